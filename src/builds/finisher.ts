/** What comes after the replay is done by one process of a rebuild; another takes over when it falls silent. */
import type { Db } from "../db/connect.ts";

const HOLD_SECONDS = 10;

/** Runs `work` if no other process does so now. False when one does. */
export async function asFinisher(
  db: Db,
  rebuild: number,
  holder: string,
  work: () => Promise<void>,
): Promise<boolean> {
  if (!(await hold(db, rebuild, holder))) return false;
  const timer = setInterval(
    () => void hold(db, rebuild, holder).catch(() => undefined),
    (HOLD_SECONDS * 1_000) / 3,
  );
  try {
    await work();
  } finally {
    clearInterval(timer);
    await release(db, rebuild, holder).catch(() => undefined);
  }
  return true;
}

async function hold(db: Db, rebuild: number, holder: string): Promise<boolean> {
  const held = await db.rows(
    {
      text: `
        update turnlog.rebuilds
        set holder = $2, held_until = clock_timestamp() + make_interval(secs => $3)
        where number = $1 and (holder = $2 or held_until <= clock_timestamp())
        returning number`,
    },
    [rebuild, holder, HOLD_SECONDS],
  );
  return held.length > 0;
}

async function release(db: Db, rebuild: number, holder: string): Promise<void> {
  await db.rows(
    {
      text: "update turnlog.rebuilds set holder = null, held_until = clock_timestamp() where number = $1 and holder = $2",
    },
    [rebuild, holder],
  );
}
