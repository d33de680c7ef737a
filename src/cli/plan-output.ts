/** Prints what a rebuild will do. */
import type { RebuildPlan } from "../builds/plan.ts";
import { formatCount, printTable } from "./output.ts";

export function printPlan(plan: RebuildPlan): void {
  printTable(
    plan.projections.map((row) => ({
      projection: row.projection,
      version: row.version,
      live_build: row.liveBuild,
      live_version: row.liveVersion,
      rows_expected: row.rows,
      disk: formatBytes(row.diskBytes),
      drops: row.droppedBuilds.map((build) => `b${build}`).join(", "),
    })),
  );
  console.log("");
  console.log(
    `read   ${formatCount(plan.events)} events of ${formatCount(plan.sessions)} sessions: about ${formatCount(plan.logRows)} rows of the log, ${formatBytes(plan.logBytes)}`,
  );
  console.log(
    `time   about ${formatCount(plan.seconds)} s at ${formatCount(plan.eventsPerSecond)} events/s (${rateSource(plan)})`,
  );
  console.log(
    `disk   about ${formatBytes(plan.diskBytes)} beside the live builds, which are kept for a rollback until turnlog drop`,
  );
  for (const { what, mode, holds, waits } of plan.locks)
    console.log(`locks  ${what}: ${mode}, held ${holds}; waited for ${waits}`);
}

function rateSource({ rateFrom, sampledSessions }: RebuildPlan): string {
  switch (rateFrom) {
    case "sample":
      return `measured just now on a sample of ${sampledSessions} sessions, with one process, without writing`;
    case "earlier rebuild":
      return "that of the last rebuild of these projections";
    case "nothing to measure":
      return "there is nothing to measure it on";
  }
}

/** `12.3 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6
    ? `${(bytes / 1e6).toFixed(1)} MB`
    : `${Math.ceil(bytes / 1e3)} kB`;
}
