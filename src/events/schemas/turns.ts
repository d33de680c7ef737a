/** Data of the events that open and close turns, steps and the inherited part of a log. */
import { eventOf, exact, open, step, text, turn } from "./fields.ts";

export const turnSchemas = {
  "turn/start": eventOf(
    "between turns",
    "Work on input begins, before the input is taken from the queue.",
    open({ turn }),
  ),
  "turn/end": eventOf(
    "in its turn",
    "The turn is over; also written when a log is repaired whose process died.",
    exact({
      turn,
      reason: open(
        {
          kind: text(
            "`completed`, `aborted`, `blocked`, `error`, `max-tokens`, `interrupted`, or a kind of a later version",
          ),
        },
        "Why the turn is over: `aborted` has a `reason` of its own, `error` an `error` with message and code",
      ),
    }),
  ),
  "step/start": eventOf(
    "in its turn",
    "A model request with the tools it asks for begins.",
    open({ turn, step }),
  ),
  "step/end": eventOf(
    "in its step",
    "The step is over, whether or not it succeeded.",
    open({ turn, step }),
  ),
  "session/end-seed": eventOf(
    "anywhere",
    "All before it was there when the session was opened: inherited, or stored by an earlier process.",
    open({}),
  ),
} as const;
