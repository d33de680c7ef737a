/** What a figure was measured under: machine, versions, the server's settings. */
import { cpus, totalmem, type as systemName } from "node:os";
import { readFileSync } from "node:fs";
import type { Bench } from "./scenario.ts";

/** Settings that durability and speed rest on. */
const SETTINGS = [
  "fsync",
  "synchronous_commit",
  "full_page_writes",
  "wal_sync_method",
  "shared_buffers",
  "max_wal_size",
  "checkpoint_timeout",
];

export async function describeConditions(
  bench: Bench,
): Promise<Record<string, string>> {
  const [version] = await bench.server.rows("show server_version");
  const settings = await bench.server.rows(
    `select name, current_setting(name) as value from pg_settings where name in (${SETTINGS.map((name) => `'${name}'`).join(", ")}) order by name`,
  );
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return {
    machine: `${cpus().length} CPUs (${cpus()[0]?.model ?? "unknown"}), ${memoryGiB} GiB, ${systemName()}`,
    node: process.version,
    postgres: `${String(version?.["server_version"])}, ${bench.server.dataDirectory === null ? "given" : "embedded"}`,
    transport: "TCP",
    settings: settings
      .map(({ name, value }) => `${String(name)}=${String(value)}`)
      .join(", "),
    measured: `${bench.rounds} rounds of ${bench.windowMs} ms`,
    load: loadAverage(),
  };
}

/** Processes that wanted a CPU in the last minute. */
function loadAverage(): string {
  try {
    return readFileSync("/proc/loadavg", "utf8").split(" ")[0] ?? "unknown";
  } catch {
    return "unknown";
  }
}
