/** Turns what the driver and Postgres throw into our errors, by SQLSTATE; the only place that looks at it. */
import { DrizzleQueryError } from "drizzle-orm";
import {
  DatabaseUnavailableError,
  SchemaOutdatedError,
  TurnlogError,
} from "../errors.ts";

/** Schema version that this client was made for. */
export const SCHEMA_VERSION = 5;

const NETWORK_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  // Of the `postgres` package, where an append joins a transaction of it.
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
]);

/** SQLSTATEs of a server that is not there for us: connection failures, shutdown, log-in, too many connections. */
const UNAVAILABLE_STATES = /^(08...|57P0[1235]|28...|3D000|53300)$/;

/** Errors of the driver that bear no code. */
const LOST_MESSAGES =
  /connection terminated|connection ended|timeout exceeded when trying to connect|client has encountered a connection error|cannot use a pool after|server closed the connection|query read timeout/i;

/** Nothing of the statement took effect, and the same statement may succeed later. */
const TRANSIENT_STATES: ReadonlySet<string> = new Set([
  "40001",
  "40P01",
  "55P03",
]);

/** Our own error as it is, a lost or refusing server as DatabaseUnavailableError, a missing schema as outdated. */
export function toTurnlogError(error: unknown): unknown {
  const cause = rootCause(error);
  if (cause instanceof TurnlogError) return cause;
  if (isConnectionError(cause))
    return new DatabaseUnavailableError(describe(cause), { cause });
  const state = sqlState(cause);
  if (state === "42P01" || state === "3F000" || state === "42883")
    return new SchemaOutdatedError({ found: null, needed: SCHEMA_VERSION });
  return error;
}

/** SQLSTATE of an error, looking through wrappers; null when it is none of Postgres. */
export function sqlState(error: unknown): string | null {
  const code = codeOf(rootCause(error));
  return code !== null && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Name of the violated constraint, if the error is such a violation. */
export function violatedConstraint(error: unknown): string | null {
  const cause = rootCause(error);
  return typeof cause === "object" &&
    cause !== null &&
    "constraint" in cause &&
    typeof cause.constraint === "string"
    ? cause.constraint
    : null;
}

/** True when nothing was done and the statement may be sent again. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT_STATES.has(sqlState(error) ?? "");
}

/** True when the statement never left, since no connection could be made. */
export function wasNeverSent(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailableError ? error.cause : error;
  const code = codeOf(cause) ?? "";
  if (
    [
      "ECONNREFUSED",
      "ENOTFOUND",
      "EAI_AGAIN",
      "EHOSTUNREACH",
      "ENETUNREACH",
      "ENOENT",
    ].includes(code)
  )
    return true;
  return (
    /^(28...|3D000|53300|57P03)$/.test(code) ||
    /timeout exceeded when trying to connect|is not queryable/i.test(
      messageOf(cause),
    )
  );
}

function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if (
    code !== null &&
    (NETWORK_CODES.has(code) || UNAVAILABLE_STATES.test(code))
  )
    return true;
  return sqlState(error) === null && LOST_MESSAGES.test(messageOf(error));
}

/** One line that names the server's answer, or the address that did not answer. */
function describe(error: unknown): string {
  const code = codeOf(error);
  const message = messageOf(error) || code || "no answer";
  if (code === "ECONNREFUSED")
    return `${message}. Is the server running, and are host and port right?`;
  if (code === "ENOTFOUND") return `${message}. Is the host name right?`;
  if (code === "28P01") return `${message}. Are user and password right?`;
  if (code === "3D000")
    return `${message}. Create it, or name another in the URL.`;
  return message.endsWith(".") ? message : `${message}.`;
}

/** The query builder wraps the driver's error; an attempt at several addresses gives several errors. */
function rootCause(error: unknown): unknown {
  let at = error;
  for (;;) {
    if (at instanceof DrizzleQueryError) at = at.cause;
    else if (at instanceof AggregateError && at.errors.length > 0)
      at = at.errors[0];
    else return at;
  }
}

function codeOf(error: unknown): string | null {
  return typeof error === "object" &&
    error !== null &&
    "code" in error &&
    typeof error.code === "string"
    ? error.code
    : null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
