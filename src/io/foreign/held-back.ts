/** Note of an answer at the end of a transcript that is not written: if it went on, what was written would be wrong. */
export const HELD_BACK = "last answers held back, since they may not be over";
