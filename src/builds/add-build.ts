/** Gives a new build its number: one that no build has ever had. */
import type { Tx } from "../db/connect.ts";
import type { Projection } from "../projector/projection.ts";

/**
 * Held by whoever adds or ends builds, until the commit.
 * Locks: advisory (7486, 0) exclusively, as migrations do.
 */
export async function lockBuilds(tx: Tx): Promise<void> {
  await tx.rows({ text: "select pg_advisory_xact_lock(7486, 0)" });
}

/** Inserts the row of a build and returns its number. The caller holds the lock of `lockBuilds`. */
export async function addBuild(
  tx: Tx,
  projection: Pick<Projection, "name" | "version">,
  as: {
    readonly status: "building" | "live";
    readonly rebuild: number | null;
  },
): Promise<number> {
  const [row] = await tx.rows<{ number: number }>(
    {
      text: `
        insert into turnlog.builds (number, projection, version, status, live_at, rebuild)
        select 1 + greatest(
                 (select coalesce(max(b.number), 0) from turnlog.builds b),
                 (select coalesce(max(f.number), 0) from turnlog.former_builds f)),
               $1, $2, $3, case when $3 = 'live' then now() end, $4
        returning number`,
    },
    [projection.name, projection.version, as.status, as.rebuild],
  );
  if (row === undefined) throw new Error("a build got no number");
  return row.number;
}
