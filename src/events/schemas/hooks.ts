/** Data of hooks: programs of the user that run at points of a turn. */
import { eventOf, number, open, text, turn } from "./fields.ts";

const point = text("Point of the turn, in the words of the dialect");
const handlerId = text("Which hook");

export const hookSchemas = {
  "hook/invoked": eventOf(
    "in its turn",
    "A hook is started.",
    open({
      turn,
      point,
      dialect: text("Whose configuration it follows: `claude-code` or `codex`"),
      matcher: text("What it matched").optional(),
      handlerId,
    }),
  ),
  "hook/result": eventOf(
    "in its turn",
    "The hook is over.",
    open({
      turn,
      point,
      handlerId,
      decision: text("What it decided, like `pass` or `block`"),
      exitCode: number("Exit code of its process").optional(),
      stderrSummary: text("Beginning of what it wrote to stderr").optional(),
      durationMs: number("How long it ran, in ms"),
    }),
  ),
} as const;
