/** A rebuild and its builds, as they stand in the control tables. */
import type { Queryable } from "../db/connect.ts";
import { RebuildEndedError } from "../errors.ts";
import type { Projection } from "../projector/projection.ts";

/** The steps of a rebuild in order, and its ends. */
export type RebuildStep =
  | "replaying"
  | "indexing"
  | "feeding"
  | "verifying"
  | "swapping"
  | "done"
  | "cancelled";

/** A new build and the definition that feeds it. */
export interface NewBuild {
  readonly build: number;
  readonly projection: Projection;
}

export interface Rebuild {
  readonly number: number;
  /** By number, which is also the order in which their locks are taken. */
  readonly builds: readonly NewBuild[];
}

/** @throws RebuildEndedError when it is done or cancelled */
export async function readStep(
  db: Queryable,
  rebuild: number,
): Promise<RebuildStep> {
  const [row] = await db.rows<{ step: RebuildStep }>(
    {
      name: "turnlog_rebuild_step",
      text: "select step from turnlog.rebuilds where number = $1",
    },
    [rebuild],
  );
  const step = row?.step ?? "cancelled";
  if (step === "cancelled") throw new RebuildEndedError(rebuild, step);
  return step;
}

/** Goes on to the next step; does nothing when another process has done so. */
export async function advance(
  db: Queryable,
  rebuild: number,
  from: RebuildStep,
  to: RebuildStep,
): Promise<void> {
  await db.rows(
    {
      text: `
        update turnlog.rebuilds
        set step = $3, trouble = null,
            replayed_at = case when $2 = 'replaying' then clock_timestamp() else replayed_at end
        where number = $1 and step = $2`,
    },
    [rebuild, from, to],
  );
}

/** Says why the rebuild stands still, or with null that it gets on. */
export async function noteTrouble(
  db: Queryable,
  rebuild: number,
  trouble: string | null,
): Promise<void> {
  await db.rows(
    {
      text: `
        update turnlog.rebuilds
        set trouble = $2
        where number = $1 and trouble is distinct from $2 and step not in ('done', 'cancelled')`,
    },
    [rebuild, trouble],
  );
}
