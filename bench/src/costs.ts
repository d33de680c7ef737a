/** What work costs beside time: commits, WAL, fsyncs and CPU, from the server's own counters. */
import { readdirSync, readFileSync } from "node:fs";
import type { Figure } from "./result.ts";
import type { BenchServer } from "./server.ts";
import { median } from "./statistics.ts";

/** Totals since the server, or this process, has started. */
export interface Counters {
  readonly commits: number;
  readonly walBytes: number;
  readonly walSyncs: number;
  readonly serverCpuMs: number;
  readonly clientCpuMs: number;
}

/** Of all databases but the one that asks: only one contender works at a time. */
const COUNTERS = `
  select (select sum(xact_commit) from pg_stat_database where datname <> current_database())::float8 as commits,
         pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal_bytes,
         (select sum(fsyncs) from pg_stat_io where object = 'wal')::float8 as wal_syncs`;

/** Backends report commits and fsyncs once a second at most, and when they end; WAL and CPU are those of now. */
export async function readCounters(server: BenchServer): Promise<Counters> {
  await server.rows("select pg_stat_force_next_flush()");
  const [row = {}] = await server.rows(COUNTERS);
  const { user, system } = process.cpuUsage();
  return {
    commits: Number(row["commits"]),
    walBytes: Number(row["wal_bytes"]),
    walSyncs: Number(row["wal_syncs"]),
    serverCpuMs: await serverCpuMs(server),
    clientCpuMs: (user + system) / 1_000,
  };
}

/** What can be read at once when work has ended; the rest is reported by backends later. */
export interface WorkCosts {
  readonly walBytes: number;
  readonly clientCpuUs: number;
  readonly serverCpuUs: number;
}

/** What one event cost, between two readings. */
export function costsPerEvent(
  before: Counters,
  after: Counters,
  events: number,
): WorkCosts {
  const per = (key: keyof Counters): number =>
    (after[key] - before[key]) / events;
  return {
    walBytes: per("walBytes"),
    clientCpuUs: per("clientCpuMs") * 1_000,
    serverCpuUs: per("serverCpuMs") * 1_000,
  };
}

/** Of several rounds. */
export function middleCosts(costs: readonly WorkCosts[]): Figure["costs"] {
  const middle = (key: keyof WorkCosts): number =>
    median(costs.map((cost) => cost[key]));
  return {
    walBytes: middle("walBytes"),
    clientCpuUs: middle("clientCpuUs"),
    serverCpuUs: middle("serverCpuUs"),
  };
}

/** Jiffies are hundredths of a second on Linux, for every program that asks. */
const MS_A_JIFFY = 10;

/** CPU of the postmaster, its children, and those that have ended; NaN where /proc does not show them. */
async function serverCpuMs(server: BenchServer): Promise<number> {
  if (server.dataDirectory === null) return Number.NaN;
  const [row] = await server.rows(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer as pid",
  );
  const postmaster = Number(row?.["pid"]);
  try {
    const jiffies = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => jiffiesOf(Number(pid), postmaster));
    return jiffies.reduce((sum, one) => sum + one, 0) * MS_A_JIFFY;
  } catch {
    // Not Linux: the figure is left out.
    return Number.NaN;
  }
}

function jiffiesOf(pid: number, postmaster: number): number {
  const stat = readStat(pid);
  const [parent, own, ended] = [
    Number(stat[1]),
    Number(stat[11]) + Number(stat[12]),
    Number(stat[13]) + Number(stat[14]),
  ];
  if (pid === postmaster) return own + ended;
  return parent === postmaster ? own : 0;
}

/** The fields after the program's name, which may hold blanks; none for a process that has just ended. */
function readStat(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
