/** The metrics and health endpoints of a process, where a port is set for them. */
import type { HealthServer } from "../health/serve-health.ts";
import type { Parts } from "./open-queue.ts";

/** @param port null for none */
export async function startHealth(
  { db, config, logger }: Parts,
  port: number | null,
): Promise<HealthServer | null> {
  if (port === null) return null;
  // Not before it is needed: the libraries take a while to load.
  const { serveHealth } = await import("../health/serve-health.ts");
  const { redisUrl, redisPrefix } = config;
  return serveHealth({ db, redisUrl, redisPrefix, port, logger });
}
