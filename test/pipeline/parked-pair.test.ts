import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { buildTables } from "../../src/builds/build-ddl.ts";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import { readConfig } from "../../src/config.ts";
import { silentLogger } from "../../src/logger.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import type { Projection } from "../../src/projector/projection.ts";
import { readFlow } from "../../src/query/status.ts";
import { startPipeline } from "../../src/runtime/pipeline.ts";
import { verifyLiveBuilds } from "../../src/verify/verify-projections.ts";
import { liveRows } from "../support/build-rows.ts";
import { useTestDatabase } from "../support/database.ts";
import { note } from "../support/events.ts";
import { notesProjection } from "../support/projector-notes.ts";
import { eventually } from "../support/relay-waiting.ts";

const database = useTestDatabase();
const POISONS: Readonly<Record<string, string>> = {
  throwing: "throw",
  refused: "NUL",
};
const throwing = notesProjection("throwing", (text) => {
  if (text === "throw") throw new RangeError("not with throw");
  return text;
});
const refused = notesProjection("refused", (text) =>
  text === "NUL" ? "a\0b" : text,
);
const first = [...builtInProjections, throwing, refused];

beforeAll(() => ensureBuilds(database().db, first));

/** A pipeline with these projections, for as long as the work takes. */
async function withPipeline(
  projections: readonly Projection[],
  work: () => Promise<void>,
): Promise<void> {
  const { db } = database();
  await using _pipeline = await startPipeline({
    db,
    config: readConfig({}, {}),
    logger: silentLogger,
    projections,
  });
  await work();
}

async function textsOf(name: string, id: string): Promise<readonly unknown[]> {
  const tables = await liveRows(database().db, { ...throwing, name }, id);
  return (tables["note_lines"] ?? []).map((row) => row["text"]);
}

/** Puts a build of a new version in the place of the live one, empty: the ordinary path fills it. */
async function deploy(projection: Projection): Promise<void> {
  await database().db.transaction(async (tx) => {
    const [row] = await tx.rows<{ number: number }>(
      {
        text: `
          insert into turnlog.builds (number, projection, version, status)
          select coalesce(max(substr(nspname, 10)::integer), 0) + 1, $1, $2, 'building'
          from pg_namespace where nspname ~ '^turnlog_b[0-9]+$'
          returning number`,
      },
      [projection.name, projection.version],
    );
    for (const statement of buildTables(projection, row?.number ?? 0))
      await tx.orm.execute(statement);
    await tx.rows(
      {
        text: "delete from turnlog.builds where projection = $1 and status = 'live'",
      },
      [projection.name],
    );
    await tx.rows(
      { text: "update turnlog.builds set status = 'live' where number = $1" },
      [row?.number],
    );
    await tx.rows({
      text: `
        insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
        select session_id, facts_head, now(), now() from turnlog.sessions
        on conflict (session_id) do nothing`,
    });
  });
}

describe.each(["throwing", "refused"])(
  "a %s projection, at one event of one session",
  (name) => {
    const poison = POISONS[name] ?? "";

    it("parks exactly that pair, keeps all else current, shows in status, and goes on in order with a new version", async () => {
      const { db, store } = database();
      const [poisoned, healthy] = [randomUUID(), randomUUID()];
      await withPipeline(first, async () => {
        await store.append(healthy, [note("a")], { expectedSeq: 0 });
        await store.append(poisoned, ["a", poison, "b"].map(note), {
          expectedSeq: 0,
        });
        await eventually(async () => {
          await db.rows({
            text: "update turnlog.checkpoints set next_at = now() where next_at is not null",
          });
          const { projections } = await readFlow(db);
          expect(
            projections.find(({ projection }) => projection === name)?.parked,
          ).toBe(1);
        });
        await store.append(healthy, [note("b")], { expectedSeq: 1 });
        await store.append(poisoned, [note("c")], { expectedSeq: 3 });
        const others = builtInProjections.map((one) => one.name);
        await store.waitFor(healthy, {
          seq: 1,
          projections: [name, ...others],
          timeoutMs: 30_000,
        });
        await store.waitFor(poisoned, {
          seq: 3,
          projections: others,
          timeoutMs: 30_000,
        });
        await expect(
          store.waitFor(poisoned, {
            seq: 3,
            projections: [name],
            timeoutMs: 30_000,
          }),
        ).rejects.toMatchObject({ code: "PROJECTION_PARKED", seq: 1 });
      });

      expect(await textsOf(name, poisoned)).toEqual(["a"]);
      expect(await textsOf(name, healthy)).toEqual(["a", "b"]);
      const parked = (await readFlow(db)).projections.map(
        (one) => [one.projection, one.parked] as const,
      );
      expect(parked.filter(([, count]) => count > 0)).toEqual([[name, 1]]);

      const repaired = notesProjection(name, (text) => text, 2);
      const next = first.map((one) => (one.name === name ? repaired : one));
      await deploy(repaired);
      await withPipeline(next, () =>
        store.waitFor(poisoned, {
          seq: 3,
          projections: [name],
          timeoutMs: 30_000,
        }),
      );

      expect(await textsOf(name, poisoned)).toEqual(["a", poison, "b", "c"]);
      const verified = await verifyLiveBuilds(db, {
        projections: next,
        projection: name,
        sessions: [poisoned, healthy],
      });
      expect(verified[0]?.difference).toBeNull();
      // The next case has no worker for it.
      await db.rows(
        { text: "delete from turnlog.builds where projection = $1" },
        [name],
      );
    });
  },
);
