/** Writes a chunk in one transaction: checkpoints only where nothing moved them, then the rows. */
import type { Db, Tx } from "../db/connect.ts";
import { RebuildEndedError } from "../errors.ts";
import { buildSchema } from "../projector/open-session.ts";
import { writeTable } from "../projector/table-writer.ts";
import type { Chunk, ChunkCheckpoint } from "./chunk.ts";
import { noteProgress, type RangeProgress } from "./ranges.ts";
import type { NewBuild } from "./rebuild-row.ts";
import { SessionsApartError } from "./session-stream.ts";

/** Another process has the range: it was silent for too long. */
export class RangeLostError extends Error {}

/**
 * A server that crashes may lose the last chunks whole, never in part, and they are replayed: so the commit does not wait
 * for the disk. Locks, in order: session rows (for key share, against erasures), builds' advisory locks (shared),
 * checkpoints by session id, read rows, the range.
 * @throws SessionsApartError for sessions that a projector folded, or that were erased, since they were read
 * @throws RangeLostError, RebuildEndedError
 */
export async function writeChunk(
  db: Db,
  builds: readonly NewBuild[],
  chunk: Chunk,
  progress: RangeProgress,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows({ text: "set local synchronous_commit = off" });
    await refuseErased(tx, chunk.checkpoints);
    await lockNewBuilds(tx, progress.rebuild, builds);
    await writeCheckpoints(tx, chunk.checkpoints);
    for (const build of builds)
      for (const [table, changes] of chunk.bufferOf(build).take())
        await writeTable(tx, buildSchema(build.build), table, changes);
    if (!(await noteProgress(tx, progress))) throw new RangeLostError();
  });
}

async function refuseErased(
  tx: Tx,
  checkpoints: readonly ChunkCheckpoint[],
): Promise<void> {
  const sessions = [
    ...new Map(
      checkpoints.map(({ session }) => [session.sessionId, session]),
    ).values(),
  ];
  const found = await tx.rows<{ session_id: string }>(
    {
      name: "turnlog_hold_replayed",
      text: `
        select s.session_id
        from turnlog.sessions s
        join unnest($1::text[], $2::uuid[], $3::integer[]) as r (session_id, incarnation, redaction_generation)
          on r.session_id = s.session_id
        where s.incarnation = r.incarnation and s.redaction_generation = r.redaction_generation and s.deleted_at is null
        order by s.session_id
        for key share of s`,
    },
    [
      sessions.map(({ sessionId }) => sessionId),
      sessions.map(({ incarnation }) => incarnation),
      sessions.map(({ redactionGeneration }) => redactionGeneration),
    ],
  );
  requireAll(
    sessions.map(({ sessionId }) => sessionId),
    found.map((row) => row.session_id),
  );
}

async function lockNewBuilds(
  tx: Tx,
  rebuild: number,
  builds: readonly NewBuild[],
): Promise<void> {
  const numbers = builds.map(({ build }) => build);
  await tx.rows(
    {
      name: "turnlog_share_builds",
      text: "select pg_advisory_xact_lock_shared(7486, b) from unnest($1::integer[]) b",
    },
    [numbers],
  );
  const open = await tx.rows(
    {
      name: "turnlog_open_builds",
      text: `
        select number
        from turnlog.builds
        where number = any($1::integer[]) and rebuild = $2 and status in ('building', 'feeding')`,
    },
    [numbers, rebuild],
  );
  if (open.length !== numbers.length)
    throw new RebuildEndedError(rebuild, "over");
}

/** A checkpoint that is missing is made; one that is there must stand where the replay began. */
async function writeCheckpoints(
  tx: Tx,
  checkpoints: readonly ChunkCheckpoint[],
): Promise<void> {
  const saved = await tx.rows<{ session_id: string; build: number }>(
    {
      name: "turnlog_replay_save",
      text: `
        with n as (
          select * from unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[], $5::text[], $6::uuid[], $7::integer[])
            as n (session_id, build, from_seq, next_seq, state, incarnation, redaction_generation)
        ), made as (
          insert into turnlog.checkpoints as c
            (session_id, build, next_seq, state, incarnation, redaction_generation)
          select n.session_id, n.build, n.next_seq, n.state, n.incarnation, n.redaction_generation
          from n
          where n.from_seq = 0
          order by n.session_id, n.build
          on conflict on constraint checkpoints_pkey do update
          set next_seq = excluded.next_seq, state = excluded.state
          where c.next_seq = 0 and c.attempts = 0 and c.parked_at is null
            and c.incarnation = excluded.incarnation and c.redaction_generation = excluded.redaction_generation
          returning c.session_id, c.build
        ), moved as (
          update turnlog.checkpoints c
          set next_seq = n.next_seq, state = n.state
          from n
          where n.from_seq > 0 and c.session_id = n.session_id and c.build = n.build
            and c.next_seq = n.from_seq and c.attempts = 0 and c.parked_at is null
            and c.incarnation = n.incarnation and c.redaction_generation = n.redaction_generation
          returning c.session_id, c.build
        )
        select session_id, build from made
        union all
        select session_id, build from moved`,
    },
    [
      checkpoints.map(({ session }) => session.sessionId),
      checkpoints.map(({ build }) => build),
      checkpoints.map(({ fromSeq }) => fromSeq),
      checkpoints.map(({ nextSeq }) => nextSeq),
      checkpoints.map(({ state }) => state),
      checkpoints.map(({ session }) => session.incarnation),
      checkpoints.map(({ session }) => session.redactionGeneration),
    ],
  );
  if (saved.length === checkpoints.length) return;
  const keys = new Set(
    saved.map(({ session_id, build }) => `${build} ${session_id}`),
  );
  throw new SessionsApartError(
    checkpoints
      .filter(
        ({ session, build }) => !keys.has(`${build} ${session.sessionId}`),
      )
      .map(({ session }) => session.sessionId),
  );
}

function requireAll(wanted: readonly string[], found: readonly string[]): void {
  if (found.length === wanted.length) return;
  const have = new Set(found);
  throw new SessionsApartError(wanted.filter((id) => !have.has(id)));
}
