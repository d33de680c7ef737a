import { spawnSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { batchesOf } from "../../bench/generator/batches.ts";
import { logLines } from "../../bench/generator/log-lines.ts";
import { generateSession } from "../../bench/generator/session.ts";
import { generateSessions } from "../../bench/generator/sessions.ts";
import { isDelta, type SessionEvent } from "../../src/events/event.ts";
import { isRun, packRuns } from "../../src/events/pack-runs.ts";
import { LogAudit } from "../../src/events/rules/log-audit.ts";
import { importFile } from "../../src/io/import-file.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import { runs } from "../support/property-runs.ts";

const scratch = mkdtempSync(join(tmpdir(), "turnlog-generator-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Most events of a step, which is what the generator holds at a time. */
const MOST_STEP_EVENTS = 20_000;

const seeds = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

/** The first items of a walk. */
function first<T>(items: Iterable<T>, count: number): T[] {
  const [batch = []] = batchesOf(items, count);
  return [...batch];
}

describe("a generated log", () => {
  it("breaks no rule, whatever its seed and its length", () => {
    fc.assert(
      fc.property(seeds, fc.nat({ max: 20_000 }), (seed, events) => {
        const session = generateSession({ seed, events });
        const audit = new LogAudit(session.header);
        for (const event of session.events) audit.add(event);

        expect(audit.findings).toEqual([]);
        expect(audit.nextSeq).toBe(events);
      }),
      { numRuns: runs(12) },
    );
  });

  it.each([1, 2, 3])("has the shape of a real one (seed %i)", (seed) => {
    const events = 87_000;
    const log = [...generateSession({ seed, events }).events];
    const count = (holds: (event: SessionEvent) => boolean): number =>
      log.filter(holds).length;

    const deltaShare = count(isDelta) / events;
    expect(deltaShare).toBeGreaterThan(0.975);
    expect(deltaShare).toBeLessThan(0.987);
    const steps = count(({ type }) => type === "step/start");
    expect(steps).toBeGreaterThan(95);
    expect(steps).toBeLessThan(160);
    const calls = count(({ type }) => type === "tool/call");
    expect(calls / steps).toBeGreaterThan(1);
    expect(calls / steps).toBeLessThan(1.25);
    const runCount = [...packRuns(log)].filter(isRun).length;
    expect(runCount).toBeGreaterThan(250);
    expect(runCount).toBeLessThan(420);
    const results = log.filter(({ type }) => type === "tool/result");
    const sizes = results.map((event) => JSON.stringify(event).length);
    expect(Math.max(...sizes)).toBeGreaterThan(10_000);
    expect(count(({ type }) => type === "session/title")).toBeGreaterThan(0);
  });

  it("is the same for the same seed, at each walk, and another for another seed", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const session = generateSession({ seed, events: 2_000 });

        expect(textsOf(seed, 2_000)).toEqual(textsOf(seed, 2_000));
        expect([...session.events]).toEqual([...session.events]);
        expect(textsOf(seed, 1_500)).toEqual(
          textsOf(seed, 2_000).slice(0, 1_501),
        );
        expect(textsOf(seed + 1, 100)).not.toEqual(textsOf(seed, 100));
      }),
      { numRuns: runs(5) },
    );
  });

  it("is made as it is read: a huge one begins at once, and no more than a step is held", () => {
    const endless = generateSession({
      seed: 1,
      events: Number.MAX_SAFE_INTEGER,
    });
    let longest = 0;
    let inStep = 0;
    for (const event of first(endless.events, 300_000)) {
      inStep = event.type === "step/start" ? 0 : inStep + 1;
      longest = Math.max(longest, inStep);
    }

    expect(longest).toBeGreaterThan(1_000);
    expect(longest).toBeLessThan(MOST_STEP_EVENTS);
  });
});

describe("generated sessions", () => {
  it("have the asked number of events together, ids of their own, and many sizes", () => {
    const shape = { seed: 5, events: 40_000, medianEvents: 500 };
    const sessions = [...generateSessions(shape)];
    const sizes = sessions.map(({ events }) => [...events].length);

    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40_000);
    expect(new Set(sessions.map(({ header }) => header.id)).size).toBe(
      sessions.length,
    );
    expect(Math.max(...sizes)).toBeGreaterThan(10 * Math.min(...sizes));
  });
});

describe("generated files", () => {
  const database = useTestDatabase();

  it.each([true, false])("are imported whole (packed: %s)", async (packed) => {
    const { store } = database();
    const seed = packed ? 11 : 12;
    const session = generateSession({ seed, events: 3_000 });
    const file = join(scratch, `import-${seed}.jsonl`);
    writeFileSync(file, `${[...logLines(session, { packed })].join("\n")}\n`);

    const report = await importFile(store, file);

    expect(report).toMatchObject({ outcome: "imported", appended: 3_000 });
    const stored = await collect(store, session.header.id);
    expect(stored.map((event) => JSON.stringify(event))).toEqual(
      [...session.events].map((event) => JSON.stringify(event)),
    );
  });

  it("are written by the command: one session, or a folder of them, and never over a file", () => {
    const file = join(scratch, "one.jsonl");
    const folder = join(scratch, "many");
    const one = generate("--events", "900", "--seed", "3", "--out", file);
    const again = generate("--events", "900", "--out", file);
    const many = generate("--events", "30000", "--packed", "--folder", folder);

    const session = generateSession({ seed: 3, events: 900 });
    const lines = [...logLines(session, { packed: false })];
    expect([one.status, again.status, many.status]).toEqual([0, 1, 0]);
    expect(again.stderr).toMatch(/^error: .*already exists/);
    expect(readFileSync(file, "utf8")).toBe(`${lines.join("\n")}\n`);
    const sessions = [...generateSessions({ seed: 1, events: 30_000 })];
    expect(readdirSync(folder).toSorted()).toEqual(
      sessions.map(({ header }) => `${header.id}.jsonl`).toSorted(),
    );
  });

  it("need to be told where they go", () => {
    const { status, stderr } = generate("--events", "10");

    expect(status).toBe(1);
    expect(stderr).toContain("give --out <file> or --folder <folder>");
  });
});

function generate(...args: readonly string[]) {
  return spawnSync(
    process.execPath,
    ["--import", "tsx", join("bench", "generator", "main.ts"), ...args],
    { encoding: "utf8" },
  );
}

/** The lines of a log's file. */
function textsOf(seed: number, events: number): string[] {
  return [...logLines(generateSession({ seed, events }), { packed: false })];
}
