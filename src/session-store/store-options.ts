/** How a store is opened. */
import type { SizeLimits } from "../log/encode-append.ts";

export interface SessionStoreOptions extends Partial<SizeLimits> {
  readonly databaseUrl: string;
  /** Connections at most. @defaultValue 10 */
  readonly poolSize?: number;
  /** Shown in pg_stat_activity. @defaultValue "turnlog" */
  readonly applicationName?: string;
  /** Set to false behind a pooler that can't keep named statements. @defaultValue true */
  readonly preparedStatements?: boolean;
  /** Characters of JSON text that one event may have. @defaultValue 67108864 */
  readonly maxEventCharacters?: number;
  /** Characters of JSON text that one append may have. @defaultValue 268435456 */
  readonly maxAppendCharacters?: number;
  /**
   * Lets small appends that are on their way at the same time share a call and a commit. Set to false to have each append
   * sent by itself and at once. @defaultValue true
   */
  readonly coalesce?: boolean;
}

/** Generous, and yet well below what one value of Postgres and one string of JavaScript can hold. */
export const DEFAULT_LIMITS: SizeLimits = {
  maxEventCharacters: 64 * 1024 * 1024,
  maxAppendCharacters: 256 * 1024 * 1024,
};
