/** Data of a streamed item of the model's answer. */
import {
  eventOf,
  json,
  number,
  open,
  openForms,
  step,
  text,
  turn,
  usageReport,
} from "./fields.ts";

const index = number(
  "Which block of the answer; blocks are numbered as they begin",
);

const chunk = openForms(
  "type",
  {
    "block-start": open({
      type: text("`block-start`"),
      index,
      blockType: text("Type of the block that begins"),
    }),
    "text-delta": open({
      type: text("`text-delta`"),
      index,
      text: text("What is added to the block, exactly as it came"),
    }),
    "reasoning-delta": open({
      type: text("`reasoning-delta`"),
      index,
      text: text("What is added to the block, exactly as it came"),
    }),
    "tool-call-delta": open({
      type: text("`tool-call-delta`"),
      index,
      id: text("Id of the call"),
      name: text("Name of the tool; often in the first delta alone").optional(),
      argumentsDelta: text("What is added to the JSON text of the arguments"),
    }),
    "block-end": open({
      type: text("`block-end`"),
      index,
      block: open(
        { type: text("Type of the block") },
        "The whole block; it takes the place of what the deltas gave",
      ),
    }),
    usage: open({
      type: text("`usage`"),
      usage: usageReport,
    }),
    finish: open({
      type: text("`finish`"),
      reason: open(
        {
          kind: text(
            "`stop`, `tool-calls`, `max-tokens`, `aborted`, `error`, or a kind of a later version",
          ),
        },
        "Why the stream ended; `aborted` and `error` have a `failure`",
      ),
      replayState: json("Private to the adapter").optional(),
    }),
  },
  "One item of the stream. Chunks of other types are kept as they are",
);

export const chunkSchemas = {
  "assistant/chunk": eventOf(
    "in its step",
    "An item of the model's stream has arrived; most events of a log are these.",
    open({ turn, step, chunk }),
  ),
} as const;
