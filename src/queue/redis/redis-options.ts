/** What the connections to Redis have in common. */
import type { RedisOptions } from "ioredis";

/** How long Redis may take to accept a connection, and to answer a command that nobody waits for longer. */
export const ANSWER_MS = 2_000;

const LONGEST_PAUSE_MS = 1_000;
const STEP_MS = 100;

export const redisOptions = {
  connectTimeout: ANSWER_MS,
  /** A server that does not answer is not waited for when we leave, nor one that has closed the connection already. */
  disconnectTimeout: 100,
  /** A lost connection is tried again within a second of the server's return. */
  retryStrategy: (attempt: number): number =>
    Math.min(attempt * STEP_MS, LONGEST_PAUSE_MS),
} as const satisfies RedisOptions;

/** Commands fail instead of waiting for a server that is away. */
export const hastyOptions = {
  ...redisOptions,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  commandTimeout: ANSWER_MS,
} as const satisfies RedisOptions;
