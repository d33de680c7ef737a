/** `turnlog status`: one line a hop on the way from append to read table. */
import { readStatus, type PipelineStatus } from "../query/status.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { formatCount, printJson, printTable } from "./output.ts";

export async function statusCommand(options: CommonOptions): Promise<number> {
  await using context = await openContext(options);
  const status = await readStatus(context.db);
  if (options.json === true) printJson(status);
  else printStatus(status);
  return 0;
}

export function printStatus(status: PipelineStatus): void {
  const { relay, work } = status;
  const oldest =
    work.oldestMs === null
      ? ""
      : `, the oldest for ${formatCount(work.oldestMs)} ms`;
  console.log(
    `log         ${formatCount(status.sessions)} sessions, ${formatCount(status.events)} events`,
  );
  console.log(`outbox      ${formatCount(status.outbox)} appends waiting`);
  console.log(
    `relay       ${relay.isAlive ? "leads" : "none is running"}, feed at position ${relay.lastPosition}`,
  );
  console.log(`work        ${formatCount(work.sessions)} sessions${oldest}`);
  console.log(`lag         ${formatCount(lagOf(status))} events`);
  console.log("");
  printTable(
    status.projections.map((row) => ({
      projection: row.projection,
      version: row.version,
      build: row.build,
      status: row.status,
      sessions_behind: row.sessionsBehind,
      events_behind: row.eventsBehind,
      failing: row.failing,
      parked: row.parked,
    })),
  );
}

/** Events that some projection has not applied: those of the one furthest behind. */
function lagOf(status: PipelineStatus): number {
  return Math.max(0, ...status.projections.map((row) => row.eventsBehind));
}
