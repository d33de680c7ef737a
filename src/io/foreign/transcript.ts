/** What a converter takes and what it gives. */
import type { SessionEvent } from "../../events/event.ts";
import type { SessionHeader } from "../../events/header.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import type { ForeignLine } from "./foreign-lines.ts";

export interface Transcript {
  readonly lines: readonly ForeignLine[];
  /** Takes what can't be expressed. */
  readonly notes: ConversionNotes;
  /** Of the file, without its endings: names a session whose transcript does not. */
  readonly name: string;
}

export interface PlacedEvent {
  /** Line of the transcript the event came from, from 1. */
  readonly line: number;
  readonly event: SessionEvent;
}

export interface Draft {
  readonly header: SessionHeader;
  readonly events: readonly PlacedEvent[];
}
