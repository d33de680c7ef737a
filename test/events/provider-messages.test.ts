import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveMessages } from "../../src/events/derive-messages.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/events/json.ts";
import type { Message } from "../../src/events/message.ts";
import { toProviderMessages } from "../../src/events/provider-messages.ts";
import { ours } from "../support/derived.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";

const IMAGE = { type: "image", attachment: { attachmentId: "sha256-0" } };
const BLANK = text("");

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

function user(...content: JsonValue[]): Message {
  return { id: "u", role: "user", content, source: { kind: "user" } };
}

function answer(...content: JsonValue[]): Message {
  const source = { kind: "model", provider: "p", model: "x" };
  return { id: "a", role: "assistant", content, source };
}

function call(id: string, args = "{}"): JsonObject {
  return { type: "tool-call", id, name: "bash", arguments: args };
}

function result(callId: string, ...content: JsonValue[]): Message {
  const block = { type: "tool-result", toolCallId: callId, content };
  const source = { kind: "tool", callId };
  return { id: `r-${callId}`, role: "user", content: [block], source };
}

function replaying(message: Message, replayState: JsonValue): Message {
  return { ...message, source: { ...message.source, replayState } };
}

/** A message in short: its texts, calls and results, by what one would look at. */
function outline(messages: readonly Message[]): string[] {
  return messages.map(({ role, content }) =>
    [role, ...content.map(outlineOf)].join(" "),
  );
}

function outlineOf(block: JsonValue): string {
  const { type, text: words, id, toolCallId, content, isError } = fields(block);
  if (type === "tool-call") return `call:${String(id)}`;
  if (type !== "tool-result") return String(words ?? type);
  const parts = Array.isArray(content) ? content.map(outlineOf).join("+") : "";
  return `result:${String(toolCallId)}:${isError === true ? "missing" : parts}`;
}

function fields(block: JsonValue | undefined): Record<string, unknown> {
  return isJsonObject(block) ? { ...block } : {};
}

const OK = text("ok");
const HI = user(text("hi"));

describe("text", () => {
  it("becomes well-formed in arguments, the original staying as it was (B006)", () => {
    const given = [answer(call("c", '{"q":"현\ud99c 보유"}')), result("c", OK)];
    const before = JSON.stringify(given);

    const [healed] = toProviderMessages(given);

    expect(fields(healed?.content[0])["arguments"]).toBe(
      '{"q":"현\ufffd 보유"}',
    );
    expect(JSON.stringify(given)).toBe(before);
  });

  it("becomes well-formed where arguments only spell half a character (B006)", () => {
    const args = String.raw`{"a":"\ud99c","b":"\ud83d\ude00","c":"\\ud99c","d":"\u0041"}`;

    const [healed] = toProviderMessages([answer(call("c", args))]);

    const healedArgs = String(fields(healed?.content[0])["arguments"]);
    expect(JSON.parse(healedArgs)).toEqual({
      a: "\ufffd",
      b: "😀",
      c: String.raw`\ud99c`,
      d: "A",
    });
  });

  it("becomes well-formed in results, names, keys and sources, and keeps NUL", () => {
    const odd = { type: "x-chart", "k\udc00": ["\ud800", { z: "a\0" }] };
    const given = [
      { ...answer(call("c\ud800")), id: "\ud800" },
      result("c\ud800", text("\udfffout\0"), odd),
    ];

    expect(toProviderMessages(given)).toEqual([
      { ...answer(call("c\ufffd")), id: "\ufffd" },
      {
        ...result("c\ufffd", text("\ufffdout\0"), {
          type: "x-chart",
          "k\ufffd": ["\ufffd", { z: "a\0" }],
        }),
        id: "r-c\ufffd",
      },
    ]);
  });

  it("leaves an escape that is only spelt out, and whole pairs", () => {
    const given = [user(text(String.raw`\ud800 \\ud800 😀`))];

    expect(toProviderMessages(given)[0]).toBe(given[0]);
  });

  it("is healed however deep it stands", () => {
    let deep: JsonValue = "\ud800";
    for (let level = 0; level < 4_900; level += 1) deep = [deep];

    const [healed] = toProviderMessages([user({ type: "x-chart", deep })]);

    let inner: unknown = fields(healed?.content[0])["deep"];
    while (Array.isArray(inner)) inner = inner[0];
    expect(inner).toBe("\ufffd");
  });
});

describe("tool calls and results", () => {
  it("give an orphan in the middle a result right behind its answer (B024)", () => {
    const given = [HI, answer(call("c1")), user(text("go on")), answer(OK)];

    const healed = toProviderMessages(given);

    expect(outline(healed)).toEqual([
      "user hi",
      "assistant call:c1",
      "user result:c1:missing",
      "user go on",
      "assistant ok",
    ]);
    expect(JSON.stringify(healed[2])).toContain("outcome is unknown");
  });

  it("pair within each answer, since providers start again with their ids (B026)", () => {
    const given = [
      answer(call("call_0")),
      result("call_0", OK),
      answer(call("call_0")),
      user(text("and?")),
    ];

    expect(outline(toProviderMessages(given))).toEqual([
      "assistant call:call_0",
      "user result:call_0:ok",
      "assistant call:call_0-2",
      "user result:call_0-2:missing",
      "user and?",
    ]);
  });

  it("give a late result to the answer nearest before it (B026)", () => {
    const given = [answer(call("c")), answer(call("c")), result("c", OK)];

    expect(outline(toProviderMessages(given))).toEqual([
      "assistant call:c",
      "user result:c:missing",
      "assistant call:c-2",
      "user result:c-2:ok",
    ]);
  });

  it("get unique ids, the same on every rebuild and with more messages (B028)", () => {
    const turn = [answer(call("a"), call("b")), result("a", OK), result("b")];
    const given = [...turn, ...turn, answer(call("a-2")), result("a-2", OK)];

    const ids = outline(toProviderMessages(given));

    expect(ids).toEqual([
      "assistant call:a call:b",
      "user result:a:ok",
      "user result:b:(no output)",
      "assistant call:a-2 call:b-2",
      "user result:a-2:ok",
      "user result:b-2:(no output)",
      "assistant call:a-2-2",
      "user result:a-2-2:ok",
    ]);
    expect(outline(toProviderMessages(structuredClone(given)))).toEqual(ids);
    expect(
      outline(toProviderMessages([...given, ...turn])).slice(0, 8),
    ).toEqual(ids);
  });

  it("are counted as a multiset in order (B029)", () => {
    const given = [
      answer(call("a"), call("a"), call("b")),
      result("a", text("first")),
      result("b", OK),
    ];

    expect(outline(toProviderMessages(given))).toEqual([
      "assistant call:a call:a-2 call:b",
      "user result:a:first",
      "user result:a-2:missing",
      "user result:b:ok",
    ]);
  });

  it("take the results of one id in order, and no more than there are calls (B029)", () => {
    const given = [
      answer(call("a"), call("a")),
      ...["first", "second", "third"].map((out) => result("a", text(out))),
    ];

    expect(outline(toProviderMessages(given))).toEqual([
      "assistant call:a call:a-2",
      "user result:a:first",
      "user result:a-2:second",
      expect.stringMatching(/^user Output of an earlier .* third$/),
    ]);
  });

  it("get an id where the model gave none", () => {
    const given = [answer(call("")), answer(call(""))];

    expect(outline(toProviderMessages(given))).toEqual([
      "assistant call:call",
      "user result:call:missing",
      "assistant call:call-2",
      "user result:call-2:missing",
    ]);
  });

  it("keep what a result says when a compaction took its call away (B034, B041)", () => {
    const given = [user(text("summary")), result("b", OK), result("c", BLANK)];

    const healed = outline(toProviderMessages(given));

    expect(healed).toEqual([
      "user summary",
      expect.stringMatching(/^user Output of an earlier .* ok$/),
      expect.stringMatching(/^user Output of an earlier .* \(no output\)$/),
    ]);
  });

  it("stand behind their answer in the order of the calls, whatever came between (B041)", () => {
    const given = [
      answer(call("a"), call("b"), call("c")),
      result("a", OK),
      user(text("compaction")),
      result("c", OK),
      result("b", OK),
    ];

    expect(outline(toProviderMessages(given))).toEqual([
      "assistant call:a call:b call:c",
      "user result:a:ok",
      "user result:b:ok",
      "user result:c:ok",
      "user compaction",
    ]);
  });

  it("are told apart where only the broken half of their ids differs", () => {
    const given = [
      answer(call("\ud800"), call("\ud801")),
      result("\ud801", text("second")),
      result("\ud800", text("first")),
    ];

    expect(outline(toProviderMessages(given))).toEqual([
      "assistant call:\ufffd call:\ufffd-2",
      "user result:\ufffd:first",
      "user result:\ufffd-2:second",
    ]);
  });

  it("are split where one message holds several results", () => {
    const [a, b] = [result("a", OK), result("b", OK)];
    const both = user(...a.content, text("look"), ...b.content);

    expect(
      outline(toProviderMessages([answer(call("a"), call("b")), both])),
    ).toEqual([
      "assistant call:a call:b",
      "user result:a:ok",
      "user result:b:ok",
      "user look",
    ]);
  });

  it("are not mistaken for properties of every object", () => {
    const given = [
      answer(call("constructor")),
      result("constructor", OK),
      result("toString", OK),
    ];

    const healed = toProviderMessages(given);

    expect(healed.slice(0, 2)).toEqual(given.slice(0, 2));
    expect(outline(healed)[2]).toMatch(/^user Output/);
  });
});

describe("empty content", () => {
  it("loses the text beside an image and keeps the image (B037)", () => {
    expect(toProviderMessages([user(IMAGE, BLANK)])).toEqual([user(IMAGE)]);
  });

  it("of old answers is healed: blank beside a call, or nothing else at all (B039)", () => {
    const given = [
      HI,
      answer(text(" \n"), call("c")),
      result("c", OK),
      answer(BLANK),
      answer(),
      answer(BLANK, { type: "reasoning", text: "" }),
    ];

    expect(toProviderMessages(given)).toEqual([
      HI,
      answer(call("c")),
      result("c", OK),
    ]);
  });

  it("of a silent command says so, and the pair stays complete (B040)", () => {
    const calls = answer(call("a"), call("b"), call("c"));
    const given = [
      calls,
      result("a", BLANK),
      result("b"),
      result("c", BLANK, IMAGE),
    ];

    expect(toProviderMessages(given)).toEqual([
      calls,
      result("a", text("(no output)")),
      result("b", text("(no output)")),
      result("c", IMAGE),
    ]);
  });

  it("of a prompt says so, since a request needs its turns", () => {
    const healed = [user(text("(empty message)"))];

    expect(toProviderMessages([user(BLANK, BLANK)])).toEqual(healed);
    expect(toProviderMessages([user()])).toEqual(healed);
  });

  it("keeps reasoning that is encrypted, beside other blocks", () => {
    const given = [answer({ type: "reasoning", text: "" }, OK)];

    expect(toProviderMessages(given)[0]).toBe(given[0]);
  });
});

describe("what the adapter noted of an answer", () => {
  const state = { response: "r", blocks: [1, 2, 3] };

  it("loses the entry of a block that is dropped", () => {
    const given = replaying(answer(OK, BLANK, OK), state);

    expect(toProviderMessages([given])).toEqual([
      replaying(answer(OK, OK), { response: "r", blocks: [1, 3] }),
    ]);
  });

  it.each<[string, Message, Message]>([
    ["does not fit the blocks", answer(OK, BLANK), answer(OK)],
    ["is of other text", answer(text("\ud800")), answer(text("\ufffd"))],
  ])("goes when it %s", (_when, message, healed) => {
    expect(toProviderMessages([replaying(message, state)])).toEqual([healed]);
  });

  it("goes when call ids change, which it may name", () => {
    const given = replaying(answer(call("c")), state);

    const healed = toProviderMessages([given, result("c", OK), given]);

    expect(healed[0]).toBe(given);
    expect(healed[2]?.source).toEqual(answer().source);
  });
});

const ids = fc.constantFrom("a", "b", "a-2", "", "\ud800", "constructor");
const words = fc.constantFrom("", " ", "ok", "\udc00x", "a\0b", "😀");
const block: fc.Arbitrary<JsonValue> = fc.oneof(
  words.map(text),
  words.map((value) => ({ type: "reasoning", text: value })),
  fc.constantFrom<JsonValue>(IMAGE, { type: "text" }, { type: "x" }, null, 7),
);
const blocks = fc.array(block, { maxLength: 3 });
const message: fc.Arbitrary<Message> = fc.oneof(
  blocks.map((content) => user(...content)),
  fc
    .tuple(blocks, fc.array(ids, { maxLength: 3 }))
    .map(([content, called]) =>
      answer(...content, ...called.map((id) => call(id, `{"${id}":1}`))),
    ),
  fc.tuple(ids, blocks).map(([id, content]) => result(id, ...content)),
  fc
    .tuple(ids, ids, blocks)
    .map(([one, other, content]) =>
      user(
        ...result(one, ...content).content,
        ...content,
        ...result(other).content,
      ),
    ),
);
const odd = fc.array(message, { maxLength: 14, size: "max" });
const derived = legalLog().map((log) =>
  deriveMessages(ours(log).events).map((item) => item.message),
);
const anyMessages = fc.oneof(
  { weight: 3, arbitrary: odd },
  { weight: 1, arbitrary: derived },
);

/** Checks a property of healed messages, over lists of any kind. */
function always(
  check: (healed: readonly Message[], given: readonly Message[]) => void,
): void {
  fc.assert(
    fc.property(anyMessages, (given) =>
      check(toProviderMessages(given), given),
    ),
    { numRuns: runs(400) },
  );
}

function callsOf({ role, content }: Message): string[] {
  return role !== "assistant"
    ? []
    : content.flatMap((item) => {
        const { type, id } = fields(item);
        return type === "tool-call" ? [String(id)] : [];
      });
}

function resultsOf({ role, content }: Message): string[] {
  return role === "assistant"
    ? []
    : content.flatMap((item) => {
        const { type, toolCallId } = fields(item);
        return type === "tool-result" ? [String(toolCallId)] : [];
      });
}

describe("healed messages", () => {
  it("need nothing more: a second time gives each of them back itself", () => {
    always((healed) => {
      const again = toProviderMessages(healed);

      expect(again).toHaveLength(healed.length);
      expect(again.every((item, at) => item === healed[at])).toBe(true);
    });
  });

  it("have one result of each call right behind its answer, and no other", () => {
    always((healed) => {
      const expected = healed.flatMap((item, at) => {
        const calls = callsOf(item);
        const behind = healed.slice(at + 1, at + 1 + calls.length);
        expect(behind.flatMap(resultsOf)).toEqual(calls);
        return calls;
      });
      expect(healed.flatMap(resultsOf)).toEqual(expected);
    });
  });

  it("have call ids that are unique, and stay when more messages come", () => {
    always((healed, given) => {
      const calls = healed.flatMap(callsOf);
      expect(new Set(calls).size).toBe(calls.length);
      for (let length = 0; length < given.length; length += 1) {
        const fewer = toProviderMessages(given.slice(0, length));
        const early = fewer.flatMap(callsOf);
        expect(early).toEqual(calls.slice(0, early.length));
      }
    });
  });

  it("are well-formed in every string and key (B006)", () => {
    always((healed) => {
      JSON.parse(JSON.stringify(healed), (key, value: unknown) => {
        expect(key.isWellFormed()).toBe(true);
        expect(String(value).isWellFormed()).toBe(true);
        return value;
      });
    });
  });

  it("have no empty content and no blank text", () => {
    always((healed) => {
      for (const { content } of healed) {
        expect(content).not.toEqual([]);
        expectNoBlank(content);
      }
    });
  });

  it("leave what they were made from as it was", () => {
    fc.assert(
      fc.property(anyMessages, (given) => {
        const before = JSON.stringify(given);
        deepFreeze(given);
        toProviderMessages(given);
        expect(JSON.stringify(given)).toBe(before);
      }),
      { numRuns: runs(200) },
    );
  });
});

function expectNoBlank(content: unknown): void {
  if (!Array.isArray(content)) return;
  for (const item of content) {
    const { type, text: value, content: inner } = fields(item);
    const isBlank = typeof value !== "string" || value.trim() === "";
    expect(type === "text" && isBlank).toBe(false);
    expect(type === "tool-result" ? inner : null).not.toEqual([]);
    expectNoBlank(inner);
  }
}

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value))
    return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}
