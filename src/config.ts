/** Settings: one schema, the environment read in one place, everything malformed named at the start. */
import { z } from "zod";
import { ConfigInvalidError } from "./errors.ts";

/** A whole number in a range; the message names both ends. */
const count = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.coerce
    .number(message)
    .int(message)
    .min(min, message)
    .max(max, message);
};

const schema = z.object({
  /** `postgres://…`; without it the embedded Postgres is used. */
  TURNLOG_DATABASE_URL: z
    .string()
    .refine(
      isPostgresUrl,
      "must be postgres://user:password@host:port/database",
    )
    .optional(),
  /** Where the embedded Postgres keeps its data. */
  TURNLOG_DATA_DIR: z.string().min(1).default(".turnlog"),
  /** `redis://…` or `rediss://…`; without it projectors claim sessions from Postgres. */
  TURNLOG_REDIS_URL: z
    .string()
    .refine(isRedisUrl, "must be redis://user:password@host:port/database")
    .optional(),
  /** What every key in Redis begins with. */
  TURNLOG_REDIS_PREFIX: z
    .string()
    .regex(/^[\w.{}-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 _ . - { }")
    .default("turnlog"),
  /** Connections of one process, at most. */
  TURNLOG_POOL_SIZE: count(2, 1_000).default(10),
  /** Sessions one projector process folds at the same time. */
  TURNLOG_PROJECTOR_CONCURRENCY: count(1, 100).default(4),
  /** Set to `off` behind a pooler that can't keep named statements. */
  TURNLOG_PREPARED_STATEMENTS: z
    .enum(["on", "off"], "must be on or off")
    .default("on"),
  /** File with projections of the user's own. */
  TURNLOG_CONFIG: z.string().min(1).optional(),
  /** Port of the metrics and health endpoints; without it there are none. */
  TURNLOG_METRICS_PORT: count(0, 65_535).optional(),
  /** Least severe log line that is written: debug, info, warn, error or silent. */
  TURNLOG_LOG_LEVEL: z
    .enum(
      ["debug", "info", "warn", "error", "silent"],
      "must be debug, info, warn, error or silent",
    )
    .default("info"),
});

export interface Config {
  readonly databaseUrl: string | null;
  readonly dataDirectory: string;
  readonly redisUrl: string | null;
  readonly redisPrefix: string;
  readonly poolSize: number;
  readonly projectorConcurrency: number;
  readonly preparedStatements: boolean;
  /** Null: look for turnlog.config.js, .mjs or .ts in the working directory. */
  readonly configFile: string | null;
  /** 0: any free one; null: no endpoints. */
  readonly metricsPort: number | null;
  readonly logLevel: z.infer<typeof schema>["TURNLOG_LOG_LEVEL"];
}

/**
 * Reads the settings; `overrides` (command-line options) win over the environment.
 * @throws ConfigInvalidError naming each variable that is wrong.
 */
export function readConfig(
  overrides: { readonly databaseUrl?: string | undefined } = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const given = {
    ...withoutEmpty(environment),
    ...withoutEmpty({ TURNLOG_DATABASE_URL: overrides.databaseUrl }),
  };
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${nameOf(issue.path.join("."), overrides)}: ${issue.message}`,
    );
    throw new ConfigInvalidError(
      `${problems.join("; ")}. See the README's list of settings.`,
    );
  }
  const value = parsed.data;
  return Object.freeze({
    databaseUrl: value.TURNLOG_DATABASE_URL ?? null,
    dataDirectory: value.TURNLOG_DATA_DIR,
    redisUrl: value.TURNLOG_REDIS_URL ?? null,
    redisPrefix: value.TURNLOG_REDIS_PREFIX,
    poolSize: value.TURNLOG_POOL_SIZE,
    projectorConcurrency: value.TURNLOG_PROJECTOR_CONCURRENCY,
    preparedStatements: value.TURNLOG_PREPARED_STATEMENTS === "on",
    configFile: value.TURNLOG_CONFIG ?? null,
    metricsPort: value.TURNLOG_METRICS_PORT ?? null,
    logLevel: value.TURNLOG_LOG_LEVEL,
  });
}

/** What was given on the command line is named as it is there. */
function nameOf(
  variable: string,
  overrides: { readonly databaseUrl?: string | undefined },
): string {
  return variable === "TURNLOG_DATABASE_URL" &&
    (overrides.databaseUrl ?? "") !== ""
    ? "--database-url"
    : variable;
}

function withoutEmpty(
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== undefined && value !== "",
    ),
  );
}

/** True for a `postgres://` URL with a host. */
export function isPostgresUrl(value: unknown): boolean {
  return isUrlOf(["postgres:", "postgresql:"], value);
}

function isRedisUrl(value: unknown): boolean {
  if (typeof value !== "string" || !isUrlOf(["redis:", "rediss:"], value))
    return false;
  const { pathname, username, password } = new URL(value);
  return (
    /^(\/\d{0,5})?$/.test(pathname) && [username, password].every(isDecodable)
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isUrlOf(protocols: readonly string[], value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocols.includes(protocol) && hostname !== "";
}
