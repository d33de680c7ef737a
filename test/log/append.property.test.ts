import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WrongExpectedSeqError } from "../../src/errors.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, deltas, note, notes, openStep } from "../support/events.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();

describe("concurrent appends", () => {
  it("one of many creators of a session wins and the others get a conflict (B081)", async () => {
    const { store } = database();
    const id = randomUUID();

    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        store.append(id, notes(2), { expectedSeq: 0 }),
      ),
    );

    const lost = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason] : [],
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(
      1,
    );
    expect(lost.every((error) => error instanceof WrongExpectedSeqError)).toBe(
      true,
    );
  });

  it("exactly one append wins each expected seq, and seqs are dense from 0", async () => {
    const { store } = database();
    const race = fc.record({
      rounds: fc.integer({ min: 1, max: 4 }),
      batches: fc.array(fc.integer({ min: 1, max: 6 }), {
        minLength: 2,
        maxLength: 8,
      }),
    });
    await fc.assert(
      fc.asyncProperty(race, async ({ rounds, batches }) => {
        const id = randomUUID();
        let head = 0;
        for (let round = 0; round < rounds; round += 1) {
          const expectedSeq = head;
          const results = await Promise.allSettled(
            batches.map((count) =>
              store.append(id, notes(count), { expectedSeq }),
            ),
          );
          const won = results.flatMap((result) =>
            result.status === "fulfilled" ? [result.value] : [],
          );
          expect(won).toHaveLength(1);
          head = won[0]?.nextSeq ?? -1;
        }
        const events = await collect(store, id);
        expect(events.map(({ seq }) => seq)).toEqual(
          Array.from({ length: head }, (_, seq) => seq),
        );
      }),
      { numRuns: runs(15) },
    );
  });

  it("an append id that is sent many times at once is stored once, and all get the same result", async () => {
    const { store } = database();
    const sends = fc.record({
      copies: fc.integer({ min: 2, max: 8 }),
      before: fc.integer({ min: 0, max: 3 }),
      isAny: fc.boolean(),
      events: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(sends, async ({ copies, before, isAny, events }) => {
        const id = randomUUID();
        await store.append(id, notes(before), { expectedSeq: 0 });
        const appendId = randomUUID();
        const expectedSeq = isAny ? "any" : before;

        const results = await Promise.all(
          Array.from({ length: copies }, () =>
            store.append(id, notes(events), { expectedSeq, appendId }),
          ),
        );

        expect(
          results.map(({ firstSeq, nextSeq }) => [firstSeq, nextSeq]),
        ).toEqual(results.map(() => [before, before + events]));
        expect(
          results.filter(({ deduplicated }) => !deduplicated),
        ).toHaveLength(1);
        expect((await store.session(id)).head).toBe(before + events);
      }),
      { numRuns: runs(20) },
    );
  });

  it("every append to any seq is stored once, whole, and in its own order", async () => {
    const { store } = database();
    const id = randomUUID();
    const writers = Array.from({ length: 12 }, (_, writer) => writer);

    await Promise.all(
      writers.map(async (writer) => {
        for (let round = 0; round < 4; round += 1) {
          const batch = [0, 1, 2].map((at) => note(`${writer} ${round} ${at}`));
          await store.append(id, batch, { expectedSeq: "any" });
        }
      }),
    );

    const events = await collect(store, id);
    const texts = events.map(({ data }) => JSON.stringify(data));
    expect(events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 12 * 4 * 3 }, (_, seq) => seq),
    );
    expect(new Set(texts).size).toBe(12 * 4 * 3);
    for (let seq = 0; seq < texts.length; seq += 3)
      expect(texts.slice(seq, seq + 3).map((text) => text.slice(-3))).toEqual([
        '0"}',
        '1"}',
        '2"}',
      ]);
  });

  it("appends to many sessions at once do not disturb one another", async () => {
    const { store } = database();
    const ids = Array.from({ length: 20 }, () => randomUUID());

    await Promise.all(
      ids.map(async (id) => {
        await store.append(id, openStep(), { expectedSeq: 0 });
        for (let seq = 2; seq < 32; seq += 10)
          await store.append(id, deltas("abcdefghij".split("")), {
            expectedSeq: seq,
          });
      }),
    );

    for (const id of ids)
      expect((await collect(store, id)).map(({ seq }) => seq)).toEqual(
        Array.from({ length: 32 }, (_, seq) => seq),
      );
  });
});
