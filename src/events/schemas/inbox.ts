/** Data of changes of the queue of pending input. */
import type { UserMessage } from "./messages.ts";
import { count, eventOf, listOf, objectOf, oneOf, open } from "./fields.ts";

export const inboxSchemas = {
  "agent/inbox/spliced": eventOf(
    "anywhere",
    "Messages enter the queue of pending input or leave it.",
    open({
      target: oneOf(
        ["next-turn", "next-step"],
        "Which queue: input for the next turn, or for the next step",
      ),
      start: count("Position in the queue, from 0"),
      removedCount: count("How many messages leave it from there").optional(),
      inserted: listOf(
        objectOf<UserMessage>("A user message"),
        "Messages that enter it there",
      ),
      outcome: oneOf(
        ["canceled"],
        "Those that leave are discarded; absent: they are taken up",
      ).optional(),
    }),
  ),
} as const;
