/** Begins a rebuild, or joins the one that is under way. */
import type { Db, Tx } from "../db/connect.ts";
import { BuildLockedError, BuildNotFoundError } from "../errors.ts";
import type { Projection } from "../projector/projection.ts";
import { addBuild, lockBuilds } from "./add-build.ts";
import { buildTables } from "./build-ddl.ts";
import { copyGrants } from "./grants.ts";
import { cutRanges } from "./ranges.ts";
import type { Rebuild } from "./rebuild-row.ts";

interface BuildRow {
  readonly number: number;
  readonly projection: string;
  readonly version: number;
  readonly status: string;
  readonly rebuild: number | null;
}

/** `same`: each projection is live at this version. `deploy`: versions may be others, and projections new. */
export type RebuildKind = "same" | "deploy";

/**
 * Makes empty builds and the ranges to replay, in one transaction; or returns the rebuild of the same projections that
 * is under way. From its commit on, projectors feed the new builds.
 * Locks: advisory (7486, 0) exclusively until the commit; then builds, rebuilds, rebuild_ranges.
 * @throws BuildLockedError when another rebuild has one of the projections
 * @throws BuildNotFoundError when a projection is not live at this version, unless it is a deployment
 */
export async function beginRebuild(
  db: Db,
  projections: readonly Projection[],
  kind: RebuildKind,
): Promise<Rebuild> {
  return db.transaction(async (tx) => {
    await lockBuilds(tx);
    const rows = await readBuilds(tx);
    if (kind === "same") requireLive(rows, projections);
    return underWay(rows, projections) ?? create(tx, rows, projections);
  });
}

/** All builds, by number. */
export function readBuilds(db: Pick<Tx, "rows">): Promise<BuildRow[]> {
  return db.rows<BuildRow>({
    text: "select number, projection, version, status, rebuild from turnlog.builds order by number",
  });
}

function requireLive(
  rows: readonly BuildRow[],
  projections: readonly Projection[],
): void {
  for (const { name, version } of projections) {
    const live = rows.find(
      (row) => row.projection === name && row.status === "live",
    );
    if (live === undefined)
      throw new BuildNotFoundError(
        `${name} has no live build yet. Make it with: turnlog migrate`,
      );
    if (live.version !== version)
      throw new BuildNotFoundError(
        `The live build of ${name} is of version ${live.version}, and this release has version ${version}. ` +
          `Change versions with: turnlog deploy`,
      );
  }
}

function underWay(
  rows: readonly BuildRow[],
  projections: readonly Projection[],
): Rebuild | null {
  const open = rows.filter(
    ({ status }) => status === "building" || status === "feeding",
  );
  const taken = open.find(({ projection }) =>
    projections.some(({ name }) => name === projection),
  );
  if (taken === undefined) return null;
  const all = open.filter(({ rebuild }) => rebuild === taken.rebuild);
  const builds = all.flatMap((row) => {
    const projection = projections.find(
      ({ name, version }) => name === row.projection && version === row.version,
    );
    return projection === undefined ? [] : [{ build: row.number, projection }];
  });
  if (
    taken.rebuild === null ||
    builds.length !== all.length ||
    builds.length !== projections.length
  )
    throw new BuildLockedError(
      `Rebuild ${taken.rebuild} of ${all.map((row) => `${row.projection} version ${row.version}`).join(", ")} is under way. ` +
        `Go on with it by naming just these, or end it with: turnlog cancel ${taken.rebuild}`,
    );
  return { number: taken.rebuild, builds };
}

async function create(
  tx: Tx,
  rows: readonly BuildRow[],
  projections: readonly Projection[],
): Promise<Rebuild> {
  const [row] = await tx.rows<{ number: number }>({
    text: `
      insert into turnlog.rebuilds (number, step)
      select 1 + coalesce(max(number), 0), 'replaying' from turnlog.rebuilds
      returning number`,
  });
  const number = row?.number ?? 0;
  const builds = [];
  for (const projection of projections) {
    const build = await addBuild(tx, projection, {
      status: "building",
      rebuild: number,
    });
    for (const statement of buildTables(projection, build))
      await tx.orm.execute(statement);
    const live = rows.find(
      (candidate) =>
        candidate.projection === projection.name && candidate.status === "live",
    );
    if (live !== undefined) await copyGrants(tx, live.number, build);
    if (live?.version === projection.version)
      await copySkipped(tx, live.number, build);
    builds.push({ build, projection });
  }
  await cutRanges(tx, number);
  return { number, builds };
}

/** What a build of the same version passes over, the new one passes over too. */
async function copySkipped(tx: Tx, from: number, to: number): Promise<void> {
  await tx.rows(
    {
      text: `
        insert into turnlog.skipped_events (session_id, build, incarnation, seq, error_code, skipped_at)
        select k.session_id, $2, k.incarnation, k.seq, k.error_code, k.skipped_at
        from turnlog.skipped_events k
        where k.build = $1`,
    },
    [from, to],
  );
}
