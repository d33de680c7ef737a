/** Trouble that may come with every command is told of every ten seconds at most. */
import type { Logger } from "../../logger.ts";

const PAUSE_MS = 10_000;

/** Returns a function that logs the reason under this message, unless it has just done so. */
export function warnSeldom(
  logger: Logger,
  message: string,
): (error: unknown) => void {
  let nextAt = 0;
  return (error) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + PAUSE_MS;
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn({ reason }, message);
  };
}
