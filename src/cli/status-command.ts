/** `turnlog status`: one line a hop on the way from append to read table. */
import type { Config } from "../config.ts";
import type { RedisProbe } from "../queue/redis/probe-redis.ts";
import { readStatus, type PipelineStatus } from "../query/status.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { formatCount, printJson, printTable } from "./output.ts";

export async function statusCommand(options: CommonOptions): Promise<number> {
  await using context = await openContext(options);
  const status = await readStatus(context.db);
  const redis = await readRedis(context.config);
  if (options.json === true) printJson({ ...status, redis });
  else printStatus(status, redis);
  return 0;
}

/** @param redis null where no Redis is configured */
export function printStatus(
  status: PipelineStatus,
  redis: RedisProbe | null = null,
): void {
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
  if (redis !== null) console.log(`redis       ${redisLine(redis)}`);
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

/** Null where no Redis is configured; its client is not loaded then. */
async function readRedis({
  redisUrl,
  redisPrefix,
}: Config): Promise<RedisProbe | null> {
  if (redisUrl === null) return null;
  const { probeRedis } = await import("../queue/redis/probe-redis.ts");
  return probeRedis(redisUrl, redisPrefix);
}

function redisLine({ isReachable, reason }: RedisProbe): string {
  return isReachable
    ? "reachable"
    : `not reachable from here (${reason}); projectors claim work from Postgres`;
}

/** Events that some projection has not applied: those of the one furthest behind. */
function lagOf(status: PipelineStatus): number {
  return Math.max(0, ...status.projections.map((row) => row.eventsBehind));
}
