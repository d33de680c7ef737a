/**
 * Data of the three types on the surface. What a message must look like is in message-shapes.ts; the schemas here
 * check what stands around it.
 */
import type { JsonObject, JsonValue } from "../json.ts";
import {
  eventOf,
  json,
  objectOf,
  onlyTrue,
  open,
  step,
  text,
  turn,
  type Told,
  usageReport,
} from "./fields.ts";

/** Who a message is from; what else is known of that depends on the kind, and kinds are an open set. */
interface MessageSource {
  readonly kind: string;
  readonly [key: string]: JsonValue;
}

/** What all messages have. */
interface Message {
  /** An identity, not a key: copies and rewritten messages have the id of their original. */
  readonly id: string;
  /** Blocks, an open set: text, reasoning, image, tool-call, tool-result. */
  readonly content: readonly JsonValue[];
  readonly [key: string]: JsonValue;
}

/** Input of the model: of a person, or context that the harness adds. */
export interface UserMessage extends Message {
  readonly role: "user";
  readonly source: MessageSource;
}

/** What the model answered. */
export interface AssistantMessage extends Message {
  readonly role: "assistant";
  readonly source: MessageSource & {
    readonly kind: "model";
    readonly provider: string;
    readonly model: string;
  };
}

/** What came of a tool call. */
export interface ToolResultMessage extends Message {
  readonly role: "user";
  readonly source: MessageSource & {
    readonly kind: "tool";
    readonly callId: string;
  };
  readonly content: readonly [
    JsonObject & {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly content: readonly JsonValue[];
    },
  ];
}

const CONTENT: Told[number] = [
  "content",
  "array",
  "Blocks; types nobody knows are kept",
];

/** The fields of a message of this role, for the docs. */
function told(role: string, sourceMeaning: string, content = CONTENT): Told {
  return [
    ["id", "non-empty string", "Identity of the message; not unique"],
    ["role", `\`${role}\``, "Who speaks"],
    ["source.kind", "non-empty string", sourceMeaning],
    content,
  ];
}

export const messageSchemas = {
  "user/message": eventOf(
    "anywhere",
    "Input for the model: a person's prompt, context the harness adds, or the summary that takes the place of older messages. The data is the message itself.",
    objectOf<UserMessage>(
      "The message",
      told("user", "Who it is from: `user` is a person; the set is open"),
    ),
  ),
  "assistant/message": eventOf(
    "in its step",
    "The answer is complete, or was cut off by a cancellation.",
    open({
      turn,
      step,
      message: objectOf<AssistantMessage>(
        "The message",
        told("assistant", "`model`, with non-empty `provider` and `model`"),
      ),
      usage: usageReport,
      interrupted: onlyTrue(
        "The request was cancelled and this is what had come",
      ).optional(),
    }),
  ),
  "tool/result": eventOf(
    "in its step",
    "A tool call has a result. A replacement shortens an earlier result, in any open turn, and has that one's turn and step.",
    open({
      turn,
      step,
      message: objectOf<ToolResultMessage>(
        "The message",
        told("user", "`tool`, with a non-empty `callId`", [
          "content",
          "array",
          "One block of type `tool-result`, its `toolCallId` that of the source",
        ]),
      ),
      error: open(
        {
          name: text("Class of the error"),
          code: text("Stable name of what went wrong"),
        },
        "Present when the tool failed",
      ).optional(),
      meta: json("What the tool says beside its answer").optional(),
    }),
  ),
} as const;
