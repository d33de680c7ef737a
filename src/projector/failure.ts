/** What a failure says: about the fold, or about the world outside of it. */
import { isTransient, sqlState } from "../db/pg-errors.ts";
import { DatabaseUnavailableError, TurnlogError } from "../errors.ts";
import { CheckpointMovedError } from "./checkpoints.ts";

/**
 * SQLSTATEs that are not the row's fault: connection (08), transaction state such as a server that has become read-only
 * (25), resources such as a full disk (53), an operator (57), the system (58).
 */
const OUTSIDE_STATES = /^(08|25|53|57|58)/;

/** Trouble that says nothing about the fold: the next attempt may simply work. */
export function isOutside(cause: unknown): boolean {
  return (
    cause instanceof DatabaseUnavailableError ||
    cause instanceof CheckpointMovedError ||
    isTransient(cause) ||
    OUTSIDE_STATES.test(sqlState(cause) ?? "")
  );
}

/** Name of a failure that carries no content of the session: a code of ours, an SQLSTATE, or the class of an error. */
export function errorCodeOf(cause: unknown): string {
  if (cause instanceof TurnlogError) return cause.code;
  const name = cause instanceof Error ? cause.constructor.name : "";
  return (
    sqlState(cause) ?? (/^[A-Za-z]\w{0,63}$/.test(name) ? name : "UNKNOWN")
  );
}
