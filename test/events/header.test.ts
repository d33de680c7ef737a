import { describe, expect, it } from "vitest";
import { FormatUnsupportedError } from "../../src/errors.ts";
import { FORMAT_VERSION, parseHeader } from "../../src/events/header.ts";
import type { JsonValue } from "../../src/events/json.ts";
import { altered } from "./altered.ts";

const MINIMAL = { version: 0, id: "a1", createdAt: 10, delegationDepth: 0 };

const FULL = {
  version: 0,
  id: "a1",
  createdAt: 1_700_000_000_000,
  cwd: "/home/me/x y",
  parentSession: "a0",
  seedLength: 12,
  origin: "subagent",
  delegationDepth: 2,
  agentPreset: "reviewer",
};

describe("parseHeader", () => {
  it("reads the header of the example A1", () => {
    const line =
      '{"type":"session","version":0,"id":"a1","createdAt":10,"cwd":"/w","delegationDepth":0}';

    expect(parseHeader(JSON.parse(line))).toStrictEqual({
      version: 0,
      id: "a1",
      createdAt: 10,
      cwd: "/w",
      delegationDepth: 0,
    });
  });

  it("leaves optional fields out that are not there", () => {
    expect(parseHeader(MINIMAL)).toStrictEqual(MINIMAL);
  });

  it("reads every field", () => {
    expect(parseHeader(FULL)).toStrictEqual(FULL);
  });

  it("puts the keys in their order, however they came", () => {
    const reversed = Object.fromEntries(Object.entries(FULL).toReversed());

    expect(JSON.stringify(parseHeader(reversed))).toBe(JSON.stringify(FULL));
  });

  it("drops keys it does not know", () => {
    const header = {
      ...MINIMAL,
      type: "session",
      title: "t",
      incarnation: { a: 1 },
    };

    expect(parseHeader(header)).toStrictEqual(MINIMAL);
  });

  it("drops an own key __proto__", () => {
    const text = JSON.stringify(MINIMAL).replace("{", '{"__proto__":{"a":1},');

    expect(parseHeader(JSON.parse(text))).toStrictEqual(MINIMAL);
  });

  it.each(["sandboxMode", "approvalPolicy"])(
    "refuses the retired key %s, whatever its value",
    (key) => {
      expect(() => parseHeader({ ...MINIMAL, [key]: null })).toThrow(
        refusal(key),
      );
    },
  );

  it.each<[what: string, path: string, put: JsonValue]>([
    ["an odd id", "id", "a/b~é\n😀"],
    ["an id that only the store refuses", "id", "\0\ud800"],
    ["createdAt 0", "createdAt", 0],
    ["the last safe createdAt", "createdAt", Number.MAX_SAFE_INTEGER],
    ["a POSIX path", "cwd", "/"],
    ["a Windows path", "cwd", "C:\\Users\\me"],
    ["a Windows path with slashes", "cwd", "c:/Users/me"],
    ["a Windows share", "cwd", "\\\\host\\share\\dir"],
    ["a parent of any text", "parentSession", ""],
    ["nothing inherited", "seedLength", 0],
    ["an agent preset of any text", "agentPreset", ""],
  ])("accepts %s", (_what, path, put) => {
    const header = altered(FULL, path, put);

    expect(parseHeader(header)).toStrictEqual(header);
  });

  it.each<[what: string, path: string, put?: JsonValue]>([
    ["no id", "id"],
    ["an empty id", "id", ""],
    ["a number for its id", "id", 1],
    ["no createdAt", "createdAt"],
    ["a null createdAt", "createdAt", null],
    ["a negative createdAt", "createdAt", -1],
    ["a fractional createdAt", "createdAt", 0.5],
    ["an unsafe createdAt", "createdAt", 2 ** 53],
    ["the createdAt -0 (B012)", "createdAt", -0],
    ["a date for its createdAt", "createdAt", "2026-01-01T00:00:00Z"],
    ["no delegationDepth", "delegationDepth"],
    ["a null delegationDepth", "delegationDepth", null],
    ["a negative delegationDepth", "delegationDepth", -1],
    ["a fractional delegationDepth", "delegationDepth", 0.5],
    ["the delegationDepth -0 (B012)", "delegationDepth", -0],
    ["a null seedLength", "seedLength", null],
    ["a negative seedLength", "seedLength", -1],
    ["a fractional seedLength", "seedLength", 1.5],
    ["an unsafe seedLength", "seedLength", 2 ** 53],
    ["the seedLength -0 (B012)", "seedLength", -0],
    ["a null origin", "origin", null],
    ["another origin", "origin", "fork"],
    ["a null cwd", "cwd", null],
    ["an empty cwd", "cwd", ""],
    ["a relative cwd", "cwd", "home/me"],
    ["a cwd relative to a drive", "cwd", "C:me"],
    ["a cwd relative to a home", "cwd", "~/me"],
    ["a placeholder for its cwd", "cwd", "{{cwd}}"],
    ["a number for its cwd", "cwd", 5],
    ["a null parentSession", "parentSession", null],
    ["a number for its parentSession", "parentSession", 5],
    ["a null agentPreset", "agentPreset", null],
    ["an object for its agentPreset", "agentPreset", {}],
  ])("refuses a header with %s", (_what, path, put) => {
    const header = altered(FULL, path, put);

    expect(() => parseHeader(header)).toThrow(refusal(path));
  });

  it.each<[JsonValue]>([[null], [[]], ["session"], [0], [[MINIMAL]]])(
    "refuses %j, which is no object",
    (value) => {
      expect(() => parseHeader(value)).toThrow(refusal(""));
    },
  );
});

describe("the version of a log", () => {
  it("is 0", () => {
    expect(FORMAT_VERSION).toBe(0);
  });

  it.each<[JsonValue | undefined]>([[undefined], [null], ["0"], [true], [{}]])(
    "makes it no header when it is %j, which is no number",
    (version) => {
      const header = altered(MINIMAL, "version", version);

      expect(() => parseHeader(header)).toThrow(refusal("version"));
    },
  );

  it.each<[what: string, header: JsonValue]>([
    ["of a full header", { ...FULL, version: 3 }],
    ["beside nothing else", { version: 99 }],
    ["beside keys of its own", { version: 3, isSeeded: true }],
    ["beside a retired key", { ...MINIMAL, version: 1, sandboxMode: "x" }],
    ["beside fields that are wrong for us", { version: 2, id: 5, cwd: null }],
    ["beyond the safe integers", { version: 1e300 }],
  ])("that is newer is judged before all else, %s (B106)", (_what, header) => {
    expect(() => parseHeader(header)).toThrow(FormatUnsupportedError);
    expect(() => parseHeader(header)).toThrow(/Upgrade turnlog/);
    expect(() => parseHeader(header)).not.toThrow(/corrupt|not a session/i);
  });

  it.each<[what: string, header: JsonValue]>([
    ["of a full header", { ...FULL, version: -1 }],
    ["beside nothing else", { version: -0.5 }],
  ])("below 0 is unsupported, and no upgrade helps, %s", (_what, header) => {
    expect(() => parseHeader(header)).toThrow(FormatUnsupportedError);
    expect(() => parseHeader(header)).toThrow(/no upgrade path/);
    expect(() => parseHeader(header)).not.toThrow(/corrupt/i);
  });

  it("is named in the error", () => {
    expect(() => parseHeader({ version: 7 })).toThrow(
      /format version 7, this version reads 0/,
    );
  });
});

function refusal(path: string): unknown {
  return expect.objectContaining({ rule: "header", path });
}
