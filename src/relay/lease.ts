/** Leadership among relays: one lease row, on the database's clock. */
import type { Queryable } from "../db/connect.ts";

/** Takes or keeps the lease and returns the fence to drain with, or null when another relay leads. */
export async function takeLease(
  db: Queryable,
  holder: string,
  ttlMs: number,
): Promise<number | null> {
  const [row] = await db.rows<{ fence: number | null }>(
    {
      name: "turnlog_lead_v1",
      text: "select fence from turnlog.lead_v1($1, $2) as fence",
    },
    [holder, ttlMs],
  );
  return row?.fence ?? null;
}

/** Gives the lease up, so that another relay need not wait for its end. */
export async function releaseLease(
  db: Queryable,
  holder: string,
): Promise<void> {
  await db.rows(
    {
      text: "update turnlog.lease set until = clock_timestamp() where lane = 0 and holder = $1",
    },
    [holder],
  );
}
