import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventTrace } from "../../src/log/trace-event.ts";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { deltas, notes, openStep, prompt } from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";
import type { EventLike } from "../support/reference-log.ts";
import { referenceFold } from "../support/reference.ts";

const database = useTestDatabase();

/** A session in which 3 replaces 0 and 1, and 4 replaces 3 and 2. */
async function replacedTwice(): Promise<string> {
  const id = randomUUID();
  await database().store.append(
    id,
    [
      prompt("a"),
      prompt("b"),
      prompt("c"),
      {
        ...prompt("ab"),
        sourceEventSeqs: [1, 0],
        surfaceOp: { op: "replace", start: 0, end: 1 },
      },
      {
        ...prompt("abc"),
        sourceEventSeqs: [2, 3],
        surfaceOp: { op: "replace", start: 3, end: 2 },
      },
    ],
    { expectedSeq: 0 },
  );
  return id;
}

/** Shadowed nodes of each event, by a surface kept as a list. */
function shadowsOf(events: readonly EventLike[]): Map<number, number[]> {
  const surface: number[] = [];
  const shadows = new Map<number, number[]>();
  for (const { seq, surfaceOp } of events) {
    if (surfaceOp === "append") surface.push(seq);
    else if (surfaceOp !== undefined) {
      const from = surface.indexOf(surfaceOp.start);
      const count = surface.indexOf(surfaceOp.end) - from + 1;
      shadows.set(seq, surface.splice(from, count, seq));
    }
  }
  return shadows;
}

function expectedTrace(events: readonly EventLike[], seq: number): EventTrace {
  const shadows = [...shadowsOf(events)];
  const above = (node: number): number | null =>
    shadows.find(([, nodes]) => nodes.includes(node))?.[0] ?? null;
  const chain: number[] = [];
  for (let at = above(seq); at !== null; at = above(at)) chain.push(at);
  return {
    replacedBy: chain[0] ?? null,
    replacementChain: chain,
    replacedSeqs: shadows.find(([by]) => by === seq)?.[1] ?? [],
    sourceSeqs: events[seq]?.sourceEventSeqs ?? null,
    derivedSeqs: events.flatMap((event) =>
      event.sourceEventSeqs?.includes(seq) === true ? [event.seq] : [],
    ),
  };
}

describe("the trace of an event", () => {
  it("goes up to what stands on the surface now, and down to what it replaced", async () => {
    const { store } = database();
    const id = await replacedTwice();

    expect(await store.traceEvent(id, 0)).toEqual({
      replacedBy: 3,
      replacementChain: [3, 4],
      replacedSeqs: [],
      sourceSeqs: null,
      derivedSeqs: [3],
    });
    expect(await store.traceEvent(id, 4)).toEqual({
      replacedBy: null,
      replacementChain: [],
      replacedSeqs: [3, 2],
      sourceSeqs: [2, 3],
      derivedSeqs: [],
    });
  });

  it("is what the log says, for every event of any log, and its chain ends on the surface", async () => {
    const { store } = database();
    await fc.assert(
      fc.asyncProperty(legalLog(), fc.nat(), async (log, at) => {
        if (log.events.length === 0) return;
        const { header, events } = await appendLog(store, log, 40);
        const seq = at % events.length;

        const trace = await store.traceEvent(header.id, seq);

        expect({
          ...trace,
          replacedSeqs: trace.replacedSeqs.toSorted((a, b) => a - b),
        }).toEqual({
          ...expectedTrace(events, seq),
          replacedSeqs: expectedTrace(events, seq).replacedSeqs.toSorted(
            (a, b) => a - b,
          ),
        });
        const last = trace.replacementChain.at(-1);
        const { surface } = referenceFold(header, events);
        expect(last === undefined || surface.includes(last)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });

  it("keeps to its session: one of another with the same seqs is not seen (B095)", async () => {
    const { store } = database();
    const [id, other] = [await replacedTwice(), randomUUID()];
    await store.append(other, notes(2), { expectedSeq: 0 });

    expect(await store.traceEvent(other, 0)).toMatchObject({
      replacedBy: null,
      derivedSeqs: [],
    });
    await expect(store.traceEvent(other, 2)).rejects.toMatchObject({
      code: "EVENT_NOT_FOUND",
      head: 2,
    });
    expect(await store.traceEvent(id, 2)).toMatchObject({ replacedBy: 4 });
  });
});

describe("the window of an event", () => {
  it("holds its neighbours in order, inside of runs too, and fewer at the ends of the log", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, [...openStep(), ...deltas(["a", "b", "c", "d"])], {
      expectedSeq: 0,
    });
    const seqs = async (seq: number, before: number, after: number) => {
      const window = await store.event(id, seq, { before, after });
      return [
        window.before.map((event) => event.seq),
        window.event.seq,
        window.after.map((event) => event.seq),
      ];
    };

    expect(await seqs(3, 2, 1)).toEqual([[1, 2], 3, [4]]);
    expect(await seqs(0, 50, 0)).toEqual([[], 0, []]);
    expect(await seqs(5, 1, 50)).toEqual([[4], 5, []]);
    expect((await store.event(id, 4)).event.data).toMatchObject({
      chunk: { text: "c" },
    });
  });

  it.each([
    [9, {}, "EVENT_NOT_FOUND"],
    [-1, {}, "EVENT_INVALID"],
    [0, { before: 51 }, "EVENT_INVALID"],
    [0, { after: 1.5 }, "EVENT_INVALID"],
  ])("at %i with %j is refused: %s", async (seq, options, code) => {
    const { store } = database();
    const id = await replacedTwice();

    await expect(store.event(id, seq, options)).rejects.toMatchObject({ code });
  });
});
