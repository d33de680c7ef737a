import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, deltas, openStep } from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";
import { referenceClosers } from "../support/reference.ts";

const database = useTestDatabase();

describe("an inspection", () => {
  it("shows the stored events and the reference's closers behind them, and writes nothing", async () => {
    const { store } = database();
    await fc.assert(
      fc.asyncProperty(
        legalLog(),
        fc.nat(),
        fc.integer({ min: 1, max: 20 }),
        async (log, at, batch) => {
          const events = log.events.slice(0, 1 + (at % 60));
          if (events.length === 0) return;
          const { header } = await appendLog(store, { ...log, events }, batch);

          const inspection = await store.inspect(header.id);

          const shown: string[] = [];
          for await (const event of inspection.events())
            shown.push(JSON.stringify(event));
          const expected = [...events, ...referenceClosers(events)];
          expect(shown).toEqual(expected.map((event) => JSON.stringify(event)));
          expect(inspection).toMatchObject({
            header,
            head: events.length,
            isWriterAlive: false,
          });
          expect(await collect(store, header.id)).toHaveLength(events.length);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it("gives the closers the time of the last delta of a run", async () => {
    const { store } = database();
    const id = randomUUID();
    const chunks = deltas(["a", "b", "c", "d"]).map((event, at) => ({
      ...event,
      time: 100 + at,
    }));
    await store.append(id, [...openStep(), ...chunks], { expectedSeq: 0 });

    const { closers } = await store.inspect(id);

    expect(closers.map(({ type, seq, time }) => [type, seq, time])).toEqual([
      ["step/end", 6, 103],
      ["turn/end", 7, 103],
    ]);
  });

  it("of a session that is not there says so", async () => {
    await expect(database().store.inspect("nobody")).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });
});
