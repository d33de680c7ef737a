/** The metrics and health endpoints of a process, where a port is set for them. */
import { serveHealth, type HealthServer } from "../health/serve-health.ts";
import type { Parts } from "./open-queue.ts";

/** @param port null for none */
export async function startHealth(
  { db, config, logger }: Parts,
  port: number | null,
): Promise<HealthServer | null> {
  const { redisUrl, redisPrefix } = config;
  return port === null
    ? null
    : serveHealth({ db, redisUrl, redisPrefix, port, logger });
}
