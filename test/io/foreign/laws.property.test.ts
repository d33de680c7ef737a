import fc from "fast-check";
import { describe, it } from "vitest";
import { runs } from "../../support/property-runs.ts";
import { answer, call, line, result, text, user } from "./claude-lines.ts";
import * as codex from "./codex-lines.ts";
import {
  piAnswer,
  piCall,
  piEntry,
  piMessage,
  piResult,
  piSession,
  piText,
  piUser,
} from "./pi-lines.ts";
import { expectBeginningsToBePrefixes, useTranscripts } from "./transcripts.ts";

useTranscripts();

const CALLS = ["c1", "c2"];

/** Lines in any order, as no agent would write them: the second of each is its position. */
function anyLines(
  kinds: readonly ((second: number) => object)[],
): fc.Arbitrary<object[]> {
  return fc
    .array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 14 })
    .map((chosen) => chosen.map((kind, at) => kind(at + 1)));
}

const claudeKinds = [
  (second: number) => user(second, "Prompt"),
  (second: number) => user(second, "<bash-input>ls</bash-input>"),
  (second: number) => user(second, "[Request interrupted by user]"),
  (second: number) => user(second, "Summary", { isCompactSummary: true }),
  (second: number) => answer(second, `m${second}`, text("Yes"), "end_turn"),
  (second: number) => answer(second, `m${second}`, text("Cut"), "max_tokens"),
  (second: number) =>
    line("assistant", second, { isApiErrorMessage: true, message: {} }),
  ...CALLS.flatMap((id) => [
    (second: number) => answer(second, `m${second}`, call(id), "tool_use"),
    (second: number) => result(second, id, "done"),
  ]),
];

const codexKinds = [
  (second: number) => codex.said(second, "user", "Prompt"),
  (second: number) => codex.said(second, "developer", "Rules"),
  (second: number) => codex.said(second, "assistant", "Yes"),
  (second: number) => codex.event(second, "task_started"),
  (second: number) => codex.event(second, "task_complete"),
  (second: number) =>
    codex.event(second, "turn_aborted", { reason: "interrupted" }),
  (second: number) => codex.event(second, "error", { message: "quota" }),
  (second: number) => codex.tokens(second, [second * 10, second, second, 0]),
  (second: number) => codex.tokens(second, [7, 1, 1, 0], [7, 1, 1, 0]),
  ...CALLS.flatMap((id) => [
    (second: number) => codex.called(second, id),
    (second: number) => codex.returned(second, id, "done"),
  ]),
];

const piKinds = [
  (second: number) => piUser(second, "Prompt"),
  (second: number) => piAnswer(second, "stop", [piText("Yes")]),
  (second: number) => piAnswer(second, "aborted", [piText("Y"), piCall("c1")]),
  (second: number) => piAnswer(second, "error", [piText("Y")]),
  (second: number) =>
    piAnswer(second, "toolUse", [piCall("c1"), piCall("c2"), piCall("c1")]),
  (second: number) => piMessage(second, "bashExecution", { command: "ls" }),
  (second: number) =>
    piEntry(second, "compaction", {
      summary: "S",
      firstKeptEntryIndex: Math.ceil(second / 2),
    }),
  (second: number) =>
    piEntry(second, "compaction", {
      summary: "S",
      firstKeptEntryIndex: second,
    }),
  (second: number) => piEntry(second, "session_info", { name: "Garden" }),
  ...CALLS.map((id) => (second: number) => piResult(second, id, "done")),
];

describe("lines in any order", () => {
  it("of Claude Code give a log that breaks no rule and grows with them", async () => {
    await fc.assert(
      fc.asyncProperty(anyLines(claudeKinds), async (lines) => {
        const transcript = [user(0, "First"), ...lines];
        await expectBeginningsToBePrefixes("claude-code", transcript);
      }),
      { numRuns: runs(60) },
    );
  });

  it("of Codex give a log that breaks no rule and grows with them", async () => {
    await fc.assert(
      fc.asyncProperty(anyLines(codexKinds), async (lines) => {
        const transcript = [
          codex.meta("s1"),
          codex.event(0, "task_started"),
          ...lines,
        ];
        await expectBeginningsToBePrefixes("codex", transcript, 2);
      }),
      { numRuns: runs(60) },
    );
  });

  it("of pi give a log that breaks no rule and grows with them", async () => {
    await fc.assert(
      fc.asyncProperty(anyLines(piKinds), async (lines) => {
        await expectBeginningsToBePrefixes("pi", [piSession(), ...lines]);
      }),
      { numRuns: runs(60) },
    );
  });
});
