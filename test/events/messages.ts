/** Data of well-formed events of the types whose shape is checked. */

export const USER_MESSAGE = {
  id: "m1",
  role: "user",
  content: [{ type: "text", text: "hi" }],
  source: { kind: "user" },
};

export const ASSISTANT_MESSAGE = {
  turn: 1,
  step: 1,
  message: {
    id: "m2",
    role: "assistant",
    content: [{ type: "text", text: "yo" }],
    source: { kind: "model", provider: "p", model: "x" },
  },
  usage: { inputTokens: 3, outputTokens: 1 },
};

export const TOOL_RESULT = {
  turn: 1,
  step: 1,
  message: {
    id: "m3",
    role: "user",
    content: [
      {
        type: "tool-result",
        toolCallId: "c1",
        content: [{ type: "text", text: "done" }],
      },
    ],
    source: { kind: "tool", callId: "c1" },
  },
};

export const REQUEST_HEADER = {
  header: {
    config: {
      provider: "p",
      model: "x",
      reasoningEffort: "high",
      maxTokens: 100,
    },
    adapterDefaults: { reasoningEffort: true, maxTokens: true },
  },
  reason: "initial",
};
