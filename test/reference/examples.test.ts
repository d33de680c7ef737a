import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { featuresOf } from "../support/reference-features.ts";
import { formatLog, readLog } from "../support/reference-log.ts";
import { expandRecord } from "../support/reference-rows.ts";
import {
  referenceClosers,
  referenceExpand,
  referenceFold,
  referenceInvariants,
  unknownRequiredTypes,
} from "../support/reference.ts";

const FOLDER = join(import.meta.dirname, "../../examples/sessions");
const NAMES = readdirSync(FOLDER).toSorted();

function example(name: string) {
  return readLog(join(FOLDER, name));
}

function chunksOf(name: string): number {
  const { events } = example(name);
  return events.filter(({ type }) => type === "assistant/chunk").length;
}

describe.each(NAMES)("example %s", (name) => {
  it("is opened by the reference, which finds nothing wrong with it", () => {
    const { header, events } = example(name);
    referenceInvariants(header, events);
    expect(referenceFold(header, events).title).toEqual(expect.any(String));
    expect(unknownRequiredTypes(events)).toEqual([]);
  });

  it("is written again, packed, as the very bytes it was read from", () => {
    const bytes = readFileSync(join(FOLDER, name), "utf8");
    expect(formatLog(example(name))).toBe(bytes);
  });

  it("expands line by line to what the reference expands", () => {
    const lines = readFileSync(join(FOLDER, name), "utf8").trim().split("\n");
    const records = lines.slice(1).map((line): unknown => JSON.parse(line));
    expect(records.flatMap(expandRecord)).toEqual(
      records.flatMap(referenceExpand),
    );
  });
});

describe("the examples together", () => {
  it.each([
    ["01-fix-failing-test", "a run of thirty or more"],
    ["01-fix-failing-test", "a title from a model"],
    ["02-parallel-tools", "parallel tool calls"],
    ["02-parallel-tools", "a failed tool"],
    ["03-retried-request", "usage of a failed attempt"],
    ["03-retried-request", "a failed attempt without usage"],
    ["03-retried-request", "usage that a retry changes"],
    ["03-retried-request", "times going back in a run"],
    ["04-compaction", "a compaction in a turn"],
    ["04-compaction", "a standalone compaction"],
    ["04-compaction", "a compaction of a checkpoint"],
    [
      "04-compaction",
      "a replaced range that starts at a later seq than it ends",
    ],
    ["05-branch-with-inherited-events", "inherited events"],
    ["05-branch-with-inherited-events", "a title from the user"],
    ["06-interrupted-turn", "an interrupted turn"],
    ["06-interrupted-turn", "a call of unknown outcome"],
    ["06-interrupted-turn", "a call that never started"],
    ["07-chinese-and-emoji", "Chinese text"],
    ["07-chinese-and-emoji", "an emoji"],
    ["07-chinese-and-emoji", "a title between turns"],
    ["08-nul-and-pruned-output", "a NUL"],
    ["08-nul-and-pruned-output", "a pruned tool result"],
    ["09-output-limit-and-cancel", "a turn that hit the output limit"],
    ["09-output-limit-and-cancel", "an answer without content"],
    ["09-output-limit-and-cancel", "a cancelled answer"],
    ["10-delegated-reading", "a subagent"],
  ])("show in %s: %s", (name, feature) => {
    expect(featuresOf(example(`${name}.jsonl`))).toContain(feature);
  });

  it("stream more than a hundred chunks each", () => {
    expect(NAMES.filter((name) => chunksOf(name) <= 100)).toEqual([]);
  });

  it("branch 05 begins with the events of 01, as they were", () => {
    const parent = example("01-fix-failing-test.jsonl");
    const child = example("05-branch-with-inherited-events.jsonl");
    const { parentSession, seedLength = 0 } = child.header;
    expect(parentSession).toBe(parent.header.id);
    expect(child.events.slice(0, seedLength)).toEqual(
      parent.events.slice(0, seedLength),
    );
    expect(child.events[seedLength]?.type).toBe("session/end-seed");
  });

  it("session 10 is a child of 02", () => {
    const parent = example("02-parallel-tools.jsonl");
    const child = example("10-delegated-reading.jsonl");
    expect(child.header.parentSession).toBe(parent.header.id);
  });

  it("session 06 ends with exactly the closers of the reference", () => {
    const { events } = example("06-interrupted-turn.jsonl");
    const crashed = events.slice(0, -4);
    expect([...crashed, ...referenceClosers(crashed)]).toEqual(events);
  });
});
