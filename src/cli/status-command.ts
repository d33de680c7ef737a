/** `turnlog status`: one line a hop on the way from append to read table, and what is wrong. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config.ts";
import { DatabaseUnavailableError } from "../errors.ts";
import { problemsOf } from "../query/problems.ts";
import { readStatus, type PipelineStatus } from "../query/status.ts";
import type { RedisProbe } from "../queue/redis/probe-redis.ts";
import { untilStopped } from "../runtime/signals.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { formatCount, printJson, printTable } from "./output.ts";

export interface StatusOptions extends CommonOptions {
  /** Seconds between two looks; true for the default. */
  readonly watch?: number | true;
}

const DEFAULT_WATCH_SECONDS = 2;

export async function statusCommand(options: StatusOptions): Promise<number> {
  await using context = await openContext(options);
  if (options.watch === undefined) {
    await look(context, (status, redis) => {
      const problems = problemsOf(status, redis);
      if (options.json === true) printJson({ ...status, redis, problems });
      else printStatus(status, redis);
    });
    return 0;
  }
  const everyMs =
    1_000 * (options.watch === true ? DEFAULT_WATCH_SECONDS : options.watch);
  const stop = new AbortController();
  const stopped = untilStopped().then(() => stop.abort());
  while (!stop.signal.aborted) {
    await look(context, (status, redis) => show(options, status, redis)).catch(
      away,
    );
    await sleep(everyMs, undefined, { signal: stop.signal }).catch(
      () => undefined,
    );
  }
  await stopped;
  return 0;
}

/** One JSON line each time; on a terminal the page before is wiped off. */
function show(
  options: StatusOptions,
  status: PipelineStatus,
  redis: RedisProbe | null,
): void {
  if (options.json === true) {
    const problems = problemsOf(status, redis);
    console.log(JSON.stringify({ ...status, redis, problems }));
    return;
  }
  if (process.stdout.isTTY) console.log("\x1b[2J\x1b[H");
  printStatus(status, redis);
  console.log("");
}

/** A database that is away is told of, and looked at again. */
function away(error: unknown): void {
  if (!(error instanceof DatabaseUnavailableError)) throw error;
  console.error(`turnlog: ${error.message}`);
}

async function look(
  { db, config }: Context,
  print: (status: PipelineStatus, redis: RedisProbe | null) => void,
): Promise<void> {
  const [status, redis] = await Promise.all([
    readStatus(db),
    readRedis(config),
  ]);
  print(status, redis);
}

/** @param redis null where no Redis is configured */
export function printStatus(
  status: PipelineStatus,
  redis: RedisProbe | null = null,
): void {
  const { relay, work, outbox } = status;
  console.log(
    `log         ${formatCount(status.sessions)} sessions, ${formatCount(status.events)} events`,
  );
  console.log(
    `outbox      ${formatCount(outbox.appends)} appends waiting${oldest(outbox.oldestMs)}`,
  );
  console.log(
    `relay       ${relay.isAlive ? `leads, lease for ${formatCount(relay.leaseMs)} ms` : "none is running"}, feed at position ${relay.lastPosition}`,
  );
  if (redis !== null) console.log(`redis       ${redisLine(redis)}`);
  console.log(
    `work        ${formatCount(work.sessions)} sessions${oldest(work.oldestMs)}`,
  );
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
      lag_ms: row.lagMs,
      failing: row.failing,
      parked: row.parked,
    })),
  );
  const problems = problemsOf(status, redis);
  if (problems.length > 0) console.log("");
  for (const { message } of problems) console.log(`! ${message}`);
}

function oldest(ms: number | null): string {
  return ms === null ? "" : `, the oldest for ${formatCount(ms)} ms`;
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
