import { describe, expect, it } from "vitest";
import {
  isKnownType,
  isRetiredType,
  isStorageTag,
  isSurfaceType,
  STORAGE_TAGS,
  SURFACE_TYPES,
} from "../../src/events/vocabulary.ts";

/** Every known type. */
const KNOWN = [
  "turn/start",
  "turn/end",
  "step/start",
  "step/end",
  "user/message",
  "assistant/chunk",
  "assistant/message",
  "tool/call",
  "tool/result",
  "todo/write",
  "request/header",
  "request/context",
  "session/end-seed",
  "agent/inbox/spliced",
  "agent-preset/selected",
  "llm/retry",
  "llm/retry-started",
  "compaction/start",
  "compaction/summary",
  "compaction/end",
  "compaction/prune",
  "session/title",
  "session/title-llm-request",
  "approval/asked",
  "approval/decided",
  "approval/policy",
  "sandbox/mode",
  "permission/preset",
  "plan/mode",
  "command/run",
  "command/done",
  "feedback/record",
  "goal/change",
  "hook/invoked",
  "hook/result",
  "schedule/change",
  "subagent/descriptor",
  "team/member",
  "team/task",
  "team/message/queued",
  "team/message/delivered",
  "tool/code-dispatch-start",
  "tool/code-dispatch",
  "tool-workflow/run-start",
  "tool-workflow/agent-start",
  "tool-workflow/agent-end",
  "tool-workflow/run-end",
  "web/deepseek-search-llm-request",
];

const INHERITED_NAMES = ["constructor", "toString", "__proto__", ""];

describe("the vocabulary", () => {
  it("has 48 types", () => {
    expect(new Set(KNOWN).size).toBe(48);
    expect(KNOWN.filter(isKnownType)).toEqual(KNOWN);
  });

  it.each([
    "request/header-delta",
    "mode/set",
    "steering/message",
    "x/new",
    "User/message",
    "user/message ",
    ...STORAGE_TAGS,
    ...INHERITED_NAMES,
  ])("does not know the type %j", (type) => {
    expect(isKnownType(type)).toBe(false);
  });

  it("has exactly three types of the surface", () => {
    expect(SURFACE_TYPES).toEqual([
      "user/message",
      "assistant/message",
      "tool/result",
    ]);
    expect(KNOWN.filter(isSurfaceType)).toEqual([...SURFACE_TYPES]);
  });

  it("has three tags of packed rows, none of which is a type", () => {
    expect(STORAGE_TAGS).toEqual([
      "text-chunks",
      "reasoning-chunks",
      "tool-call-chunks",
    ]);
    expect(STORAGE_TAGS.every(isStorageTag)).toBe(true);
    expect(KNOWN.filter(isStorageTag)).toEqual([]);
  });

  it.each(["request/header-delta", "mode/set"])("has retired %s", (type) => {
    expect(isRetiredType(type)).toBe(true);
  });

  it("has retired none of the types it knows", () => {
    expect(KNOWN.filter(isRetiredType)).toEqual([]);
  });

  it.each(["x/new", "text-delta", ...INHERITED_NAMES])(
    "takes %j for nothing special",
    (type) => {
      expect(isSurfaceType(type)).toBe(false);
      expect(isStorageTag(type)).toBe(false);
      expect(isRetiredType(type)).toBe(false);
    },
  );
});
