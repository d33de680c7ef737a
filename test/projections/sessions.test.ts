import { describe, expect, it } from "vitest";
import { sessions } from "../../src/projections/sessions/projection.ts";
import { prompt } from "../support/events.ts";
import { foldedRows } from "../support/fold-rows.ts";

const rowOf = (...events: readonly object[]) =>
  foldedRows(sessions, "sessions", events)[0];

const turn = (number: number) => ({
  type: "turn/start",
  data: { turn: number },
});
const ended = (kind: string) => ({
  type: "turn/end",
  data: { turn: 1, reason: { kind } },
});
const titled = (title: string, kind: string) => ({
  type: "session/title",
  data: { title, messageSeqs: [], source: { kind } },
});
const plugin = (text: string) => {
  const said = { content: [{ type: "text", text }] };
  const data = { ...said, source: { kind: "plugin" } };
  return { type: "user/message", data, surfaceOp: "append" };
};
const command = (args?: string) => ({
  type: "command/run",
  data: { commandId: "c", name: "go", args, source: { kind: "user" } },
});

const window = (contextWindow?: number) => ({
  type: "request/context",
  data: { provider: "p", model: "m", contextWindow },
});
const report = (usage: object) => ({
  type: "assistant/message",
  data: { turn: 1, step: 1, message: { content: [] }, usage },
});

describe("the title to show", () => {
  it("is the last one of the log, whoever gave it, and cleaned (B064, B068)", () => {
    const row = rowOf(
      prompt("hi"),
      titled("mine", "user"),
      titled(`${"a".repeat(79)}😀`, "provider"),
    );

    expect(row).toMatchObject({
      title: `${"a".repeat(79)}😀`,
      title_source: "provider",
      display_title: "a".repeat(79),
    });
  });

  it("is made of the first prompt of a person while the log has none (B066)", () => {
    const row = rowOf(
      plugin("<system-reminder>x</system-reminder>"),
      prompt("<local-command-stdout>x</local-command-stdout>"),
      prompt("Fix the build"),
      prompt("And now this"),
    );

    expect(row).toMatchObject({ title: null, display_title: "Fix the build" });
  });

  it.each(["aborted", "interrupted"])(
    "does not stick to a prompt whose turn was %s (B068)",
    (kind) => {
      const first = [turn(1), prompt("asdf"), ended(kind)];

      expect(rowOf(...first)).toMatchObject({ display_title: "asdf" });
      expect(
        rowOf(...first, turn(2), prompt("Fix it"), ended("aborted")),
      ).toMatchObject({ display_title: "Fix it" });
      expect(
        rowOf(
          ...first,
          turn(2),
          prompt("Fix it"),
          ended("completed"),
          turn(3),
          prompt("More"),
          ended(kind),
          turn(4),
          prompt("Other"),
        ),
      ).toMatchObject({ display_title: "Fix it" });
    },
  );

  it("is made of a command's arguments where there is no prompt (B069)", () => {
    const run = [command(), command(" docs/plan.md 2"), command("later")];

    expect(rowOf(...run)).toMatchObject({ display_title: "docs/plan.md 2" });
    expect(rowOf(...run, prompt("Fix it"))).toMatchObject({
      display_title: "Fix it",
    });
  });

  it("is null while nobody has said anything", () => {
    expect(rowOf(turn(1))).toMatchObject({ display_title: null });
  });
});

describe("the context of the model", () => {
  it("is the input of the last request, and not a sum (B060)", () => {
    const row = rowOf(
      report({ inputTokens: 60, outputTokens: 9 }),
      report({ inputTokens: 10, cacheReadTokens: 50, cacheWriteTokens: 2 }),
    );

    expect(row).toMatchObject({ context_tokens: 62, context_window: null });
  });

  it("keeps a size above the window as it is: the view flags it (B058)", () => {
    const row = rowOf(window(128_000), report({ inputTokens: 4_280_000 }));

    expect(row).toMatchObject({
      context_tokens: 4_280_000,
      context_window: 128_000,
    });
  });

  it("is not changed by garbage, and a window can become unknown (B062)", () => {
    const row = rowOf(
      window(8),
      report({ inputTokens: 5 }),
      report({ inputTokens: -3, outputTokens: 1 }),
      window(),
    );

    expect(row).toMatchObject({ context_tokens: 5, context_window: null });
  });
});
