/** Which versions the running projectors can feed. */
import type { Queryable } from "../db/connect.ts";
import { BuildUnfedError } from "../errors.ts";

/** A projector that has said nothing for this long counts as gone. */
const ALIVE_SECONDS = 20;
export const ANNOUNCE_MS = 5_000;

interface Version {
  readonly name: string;
  readonly version: number;
}

/** Says that a projector runs and what it can feed; those that have been gone for a day are forgotten. */
export async function announceWorker(
  db: Queryable,
  worker: string,
  versions: readonly Version[],
): Promise<void> {
  await db.rows(
    {
      name: "turnlog_announce_worker",
      text: `
        with gone as (
          delete from turnlog.workers where alive_until < clock_timestamp() - interval '1 day'
        )
        insert into turnlog.workers (worker, projection, version, alive_until)
        select $1, v.projection, v.version, clock_timestamp() + make_interval(secs => $4)
        from unnest($2::text[], $3::integer[]) as v (projection, version)
        on conflict on constraint workers_pkey do update
        set version = excluded.version, alive_until = excluded.alive_until`,
    },
    [
      worker,
      versions.map(({ name }) => name),
      versions.map(({ version }) => version),
      ALIVE_SECONDS,
    ],
  );
}

/** Takes a projector that stops off the list. */
export async function retireWorker(
  db: Queryable,
  worker: string,
): Promise<void> {
  await db.rows({ text: "delete from turnlog.workers where worker = $1" }, [
    worker,
  ]);
}

/** Of the versions those that no running projector has. */
export async function unfed(
  db: Queryable,
  versions: readonly Version[],
): Promise<readonly Version[]> {
  const rows = await db.rows<{ projection: string; version: number }>({
    text: "select distinct projection, version from turnlog.workers where alive_until > clock_timestamp()",
  });
  return versions.filter(
    ({ name, version }) =>
      !rows.some((row) => row.projection === name && row.version === version),
  );
}

/** @throws BuildUnfedError naming the first that no running projector has */
export async function requireFed(
  db: Queryable,
  versions: readonly Version[],
): Promise<void> {
  const [first] = await unfed(db, versions);
  if (first !== undefined)
    throw new BuildUnfedError({
      projection: first.name,
      version: first.version,
    });
}
