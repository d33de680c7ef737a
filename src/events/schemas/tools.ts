/** Data of tool calls, of calls made by code, and of the todo list. */
import type { z } from "zod";
import {
  eventOf,
  flag,
  json,
  listOf,
  oneOf,
  open,
  refuse,
  step,
  text,
  trimmedText,
  turn,
} from "./fields.ts";

const dispatch = {
  rootCallId: text("The call of the model that runs the code"),
  parentCallId: text("The call this one was made by"),
  subCallId: text("Id of this call: `<parent>:code:<n>`"),
  name: text("Name of the tool"),
  arguments: json("The arguments, as JSON and not as its text"),
};

const todo = open({
  content: trimmedText("What is to be done; once in a list"),
  status: oneOf(["pending", "in_progress", "completed"], "How far it is"),
});

/** Refuses the second of two items with the same content. */
function refuseRepeated(
  payload: z.core.ParsePayload<readonly { readonly content: string }[]>,
): void {
  const seen = new Set<string>();
  for (const [at, { content }] of payload.value.entries()) {
    if (seen.has(content))
      refuse(payload, [at, "content"], "must not repeat an earlier item");
    seen.add(content);
  }
}

export const toolSchemas = {
  "tool/call": eventOf(
    "in its step",
    "A tool is about to run; durable before it does.",
    open({
      turn,
      step,
      callId: text("Id of the call in the model's answer"),
      name: text("Name of the tool"),
      arguments: text(
        "The arguments as the model wrote them: JSON text, which need not be valid",
      ),
    }),
  ),
  "tool/code-dispatch-start": eventOf(
    "in a turn",
    "Code that a tool runs calls another tool.",
    open(dispatch),
  ),
  "tool/code-dispatch": eventOf(
    "in a turn",
    "That call has a result.",
    open({
      ...dispatch,
      isError: flag("Whether the tool failed"),
      content: listOf(json("A block"), "Blocks of the result"),
    }),
  ),
  "todo/write": eventOf(
    "in a turn",
    "The model writes its todo list; each list takes the place of the one before.",
    open({
      todos: listOf(todo, "The whole list, in order").check(refuseRepeated),
    }),
  ),
} as const;
