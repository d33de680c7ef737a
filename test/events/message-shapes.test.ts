import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/events/json.ts";
import { checkMessageShape } from "../../src/events/message-shapes.ts";
import { RuleViolation } from "../../src/events/rule-violation.ts";
import { altered } from "./altered.ts";
import {
  ASSISTANT_MESSAGE,
  REQUEST_HEADER,
  TOOL_RESULT,
  USER_MESSAGE,
} from "./messages.ts";

/** What is put in a place (nothing: it is taken out) and the path that is refused. */
type Change = [what: string, path: string, put: JsonValue | undefined];
type ChangeAt = [...Change, refused: string];

/** Values that are no non-empty string. */
const NO_NAMES: [what: string, value: JsonValue | undefined][] = [
  ["missing", undefined],
  ["null", null],
  ["empty", ""],
  ["a number", 5],
];

/** Values that are no array. */
const NO_LISTS: [what: string, value: JsonValue | undefined][] = [
  ["missing", undefined],
  ["null", null],
  ["a string", "text"],
  ["an object", { 0: "a" }],
];

/** Values that are no object. */
const NO_OBJECTS: [what: string, value: JsonValue | undefined][] = [
  ["missing", undefined],
  ["null", null],
  ["a string", "text"],
  ["a list", []],
];

const DATA_THAT_IS_NO_OBJECT: [JsonValue][] = [[null], ["text"], [5], [[]]];

describe("a user message", () => {
  it("of the usual shape is accepted", () => {
    expect(refusalOf("user/message", USER_MESSAGE)).toBeNull();
  });

  it.each(changes(NO_NAMES, "id", "source.kind"))(
    "is refused when it has %s",
    (_what, path, put) => {
      expect(refusalOf("user/message", altered(USER_MESSAGE, path, put))).toBe(
        `data.${path}`,
      );
    },
  );

  it.each(changes(NO_LISTS, "content"))(
    "is refused when it has %s",
    (_what, path, put) => {
      expect(refusalOf("user/message", altered(USER_MESSAGE, path, put))).toBe(
        `data.${path}`,
      );
    },
  );

  it.each(changes(NO_OBJECTS, "source"))(
    "is refused when it has %s",
    (_what, path, put) => {
      expect(refusalOf("user/message", altered(USER_MESSAGE, path, put))).toBe(
        `data.${path}`,
      );
    },
  );

  it.each<[JsonValue | undefined]>([[undefined], ["assistant"], ["User"], [1]])(
    "is refused in the role %j",
    (role) => {
      const data = altered(USER_MESSAGE, "role", role);

      expect(refusalOf("user/message", data)).toBe("data.role");
    },
  );

  it.each(DATA_THAT_IS_NO_OBJECT)("is refused when it is %j", (data) => {
    expect(refusalOf("user/message", data)).toBe("data");
  });

  it("is refused when it is wrapped as the other messages are", () => {
    expect(refusalOf("user/message", { message: USER_MESSAGE })).toBe(
      "data.id",
    );
  });

  it.each<[what: string, path: string, put: JsonValue | undefined]>([
    ["an unknown source kind (B109)", "source.kind", "agent-teams-command"],
    ["a source named like an inherited property", "source.kind", "toString"],
    ["further keys in its source (B109)", "source.summary", { any: 1 }],
    ["a further key", "meta", { any: 1 }],
    ["no content at all", "content", []],
    ["an empty text", "content.0.text", ""],
    ["an unknown block type", "content.0.type", "x/video"],
    ["a block without type", "content.0", {}],
    ["a block that is no object", "content.0", null],
    ["an odd id", "id", "\0\ud800"],
  ])("is accepted with %s", (_what, path, put) => {
    const data = altered(USER_MESSAGE, path, put);

    expect(refusalOf("user/message", data)).toBeNull();
  });
});

describe("an assistant message", () => {
  it("of the usual shape is accepted", () => {
    expect(refusalOf("assistant/message", ASSISTANT_MESSAGE)).toBeNull();
  });

  it.each([
    ...changes(NO_NAMES, "message.id", "message.source.kind"),
    ...changes(NO_NAMES, "message.source.provider", "message.source.model"),
    ...changes(NO_LISTS, "message.content"),
    ...changes(NO_OBJECTS, "message", "message.source"),
  ])("is refused when it has %s", (_what, path, put) => {
    const data = altered(ASSISTANT_MESSAGE, path, put);

    expect(refusalOf("assistant/message", data)).toBe(`data.${path}`);
  });

  it.each<[JsonValue | undefined]>([[undefined], ["user"], ["system"]])(
    "is refused in the role %j",
    (role) => {
      const data = altered(ASSISTANT_MESSAGE, "message.role", role);

      expect(refusalOf("assistant/message", data)).toBe("data.message.role");
    },
  );

  it.each(["user", "tool", "x/kind"])(
    "is refused with the source kind %s",
    (kind) => {
      const data = altered(ASSISTANT_MESSAGE, "message.source.kind", kind);

      expect(refusalOf("assistant/message", data)).toBe(
        "data.message.source.kind",
      );
    },
  );

  it.each(DATA_THAT_IS_NO_OBJECT)("is refused when its data is %j", (data) => {
    expect(refusalOf("assistant/message", data)).toBe("data");
  });

  it.each<Change>([
    ["no content, as a host cut off at max-tokens", "message.content", []],
    ["an unknown block type", "message.content.0.type", "x/video"],
    ["an interruption", "interrupted", true],
    ["replay state", "message.source.replayState", { response: [1] }],
    ["no usage", "usage", undefined],
    ["null in its usage (B062)", "usage.inputTokens", null],
    ["a negative usage (B062)", "usage.inputTokens", -3],
    [
      "a tool call whose arguments hold a lone surrogate (B006)",
      "message.content.0",
      { type: "tool-call", id: "c1", name: "n", arguments: "현\ud99c 보유" },
    ],
  ])("is accepted with %s", (_what, path, put) => {
    const data = altered(ASSISTANT_MESSAGE, path, put);

    expect(refusalOf("assistant/message", data)).toBeNull();
  });
});

describe("a tool result", () => {
  it("of the usual shape is accepted", () => {
    expect(refusalOf("tool/result", TOOL_RESULT)).toBeNull();
  });

  it.each([
    ...changes(NO_NAMES, "message.id", "message.source.kind"),
    ...changes(NO_NAMES, "message.source.callId"),
    ...changes(NO_LISTS, "message.content"),
    ...changes(NO_OBJECTS, "message", "message.source"),
  ])("is refused when it has %s", (_what, path, put) => {
    const data = altered(TOOL_RESULT, path, put);

    expect(refusalOf("tool/result", data)).toBe(`data.${path}`);
  });

  it.each<ChangeAt>([
    ["the role assistant", "message.role", "assistant", ".role"],
    ["the role tool", "message.role", "tool", ".role"],
    ["the source kind user", "message.source.kind", "user", ".source.kind"],
    ["no block", "message.content", [], ".content"],
    ["two blocks", "message.content", blocks("c1", "c1"), ".content"],
    ["null for a block", "message.content.0", null, ".content[0]"],
    ["a string for a block", "message.content.0", "text", ".content[0]"],
    ["a text block", "message.content.0.type", "text", ".content[0].type"],
    [
      "a block without type",
      "message.content.0.type",
      undefined,
      ".content[0].type",
    ],
    [
      "a block without content",
      "message.content.0.content",
      undefined,
      ".content[0].content",
    ],
    [
      "a text for the content of its block",
      "message.content.0.content",
      "done",
      ".content[0].content",
    ],
    [
      "the call id of another call",
      "message.content.0.toolCallId",
      "c2",
      ".content[0].toolCallId",
    ],
    [
      "no call id in its block",
      "message.content.0.toolCallId",
      undefined,
      ".content[0].toolCallId",
    ],
    [
      "another call id in its source than in its block",
      "message.source.callId",
      "c2",
      ".content[0].toolCallId",
    ],
  ])("is refused with %s", (_what, path, put, refused) => {
    const data = altered(TOOL_RESULT, path, put);

    expect(refusalOf("tool/result", data)).toBe(`data.message${refused}`);
  });

  it.each(DATA_THAT_IS_NO_OBJECT)("is refused when its data is %j", (data) => {
    expect(refusalOf("tool/result", data)).toBe("data");
  });

  it.each<Change>([
    ["empty content in its block (B040)", "message.content.0.content", []],
    ["an image in its block", "message.content.0.content.0.type", "image"],
    ["an error", "error", { name: "E", code: "X" }],
    ["isError", "message.content.0.isError", true],
    ["meta with keys that differ by a NUL (B009)", "meta", { a: 1, "a\0": 2 }],
    ["text with NUL (B001)", "message.content.0.content.0.text", "a\0b"],
  ])("is accepted with %s", (_what, path, put) => {
    const data = altered(TOOL_RESULT, path, put);

    expect(refusalOf("tool/result", data)).toBeNull();
  });
});

describe("a request header", () => {
  it("of the usual shape is accepted", () => {
    expect(refusalOf("request/header", REQUEST_HEADER)).toBeNull();
  });

  it.each([
    ...changes(NO_OBJECTS, "header", "header.config"),
    ...changes(NO_NAMES, "header.config.provider", "header.config.model"),
  ])("is refused when it has %s", (_what, path, put) => {
    const data = altered(REQUEST_HEADER, path, put);

    expect(refusalOf("request/header", data)).toBe(`data.${path}`);
  });

  it.each<Change>([
    ["an empty reasoning effort", "config.reasoningEffort", ""],
    ["a null reasoning effort", "config.reasoningEffort", null],
    ["a number for its reasoning effort", "config.reasoningEffort", 5],
    ["null for its adapter defaults", "adapterDefaults", null],
    ["a list for its adapter defaults", "adapterDefaults", []],
    ["an unknown adapter default", "adapterDefaults.temperature", true],
    ["an adapter default that is false", "adapterDefaults.maxTokens", false],
    ["an adapter default that is 1", "adapterDefaults.reasoningEffort", 1],
    ["an adapter default that is null", "adapterDefaults.maxTokens", null],
  ])("is refused with %s", (_what, path, put) => {
    const data = altered(REQUEST_HEADER, `header.${path}`, put);

    expect(refusalOf("request/header", data)).toBe(`data.header.${path}`);
  });

  it.each(["reasoningEffort", "maxTokens"])(
    "is refused with a default for %s that its config does not have",
    (key) => {
      const data = altered(REQUEST_HEADER, `header.config.${key}`);

      expect(refusalOf("request/header", data)).toBe(
        `data.header.adapterDefaults.${key}`,
      );
    },
  );

  it.each(DATA_THAT_IS_NO_OBJECT)("is refused when its data is %j", (data) => {
    expect(refusalOf("request/header", data)).toBe("data");
  });

  it.each<Change>([
    ["placeholder tools", "header.tools", "{{tools}}"],
    ["a system prompt of any type", "header.system", 5],
    ["a temperature of any type", "header.config.temperature", "hot"],
    ["a max-tokens of any type", "header.config.maxTokens", null],
    ["no adapter defaults", "header.adapterDefaults", undefined],
    ["empty adapter defaults", "header.adapterDefaults", {}],
    ["an unknown key in its config", "header.config.seed", 5],
    ["an unknown reason", "reason", "x/new"],
  ])("is accepted with %s", (_what, path, put) => {
    const data = altered(REQUEST_HEADER, path, put);

    expect(refusalOf("request/header", data)).toBeNull();
  });

  it("is accepted without reasoning effort when it has no default for it", () => {
    const header = { config: { provider: "p", model: "x" } };

    expect(refusalOf("request/header", { header })).toBeNull();
  });
});

describe("an event of another type", () => {
  it.each(["turn/start", "tool/call", "x/plugin", "__proto__", "toString"])(
    "has no shape to be checked (%s)",
    (type) => {
      expect(refusalOf(type, null)).toBeNull();
    },
  );
});

/** The path that is refused; null when the data is accepted. */
function refusalOf(type: string, data: JsonValue): string | null {
  try {
    checkMessageShape(type, data);
    return null;
  } catch (error) {
    if (error instanceof RuleViolation && error.rule === "message-shape")
      return error.path;
    throw error;
  }
}

/** Each of the values in each of the places. */
function changes(
  values: readonly [what: string, value: JsonValue | undefined][],
  ...paths: readonly string[]
): Change[] {
  return paths.flatMap((path) =>
    values.map(([what, value]): Change => [`${path} ${what}`, path, value]),
  );
}

function blocks(...callIds: readonly string[]): JsonValue {
  return callIds.map((toolCallId) => ({
    type: "tool-result",
    toolCallId,
    content: [],
  }));
}
