/** Identities that must not be mixed up: a branded type and a checking constructor each. */
import { randomUUID } from "node:crypto";
import { EventInvalidError } from "../errors.ts";

declare const brand: unique symbol;

/** Id of a session: any non-empty text that Postgres can hold. Compared byte by byte. */
export type SessionId = string & { readonly [brand]: "SessionId" };

/** Identity of one append, for safe retries: a UUID. */
export type AppendId = string & { readonly [brand]: "AppendId" };

/** Longest session id, in UTF-8 bytes: ids are keys of B-tree indexes, which hold about 2,700 bytes. */
export const MAX_SESSION_ID_BYTES = 1_024;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Checks a session id.
 * @throws EventInvalidError when it is empty, too long, or holds NUL or a lone surrogate.
 */
export function SessionId(value: string): SessionId {
  if (typeof value !== "string" || value === "")
    throw invalidId("session-id", "must be a non-empty string");
  if (value.includes("\0"))
    throw invalidId("session-id", "must not contain NUL");
  if (!value.isWellFormed())
    throw invalidId("session-id", "must be well-formed Unicode");
  if (Buffer.byteLength(value) > MAX_SESSION_ID_BYTES)
    throw invalidId(
      "session-id",
      `must not be longer than ${MAX_SESSION_ID_BYTES} bytes`,
    );
  return value as SessionId;
}

/**
 * Checks an append id, or makes one when none is given.
 * @throws EventInvalidError when it is not a UUID.
 */
export function AppendId(value: string = randomUUID()): AppendId {
  if (typeof value !== "string" || !UUID.test(value))
    throw invalidId("append-id", "must be a UUID");
  return value.toLowerCase() as AppendId;
}

function invalidId(rule: string, reason: string): EventInvalidError {
  return new EventInvalidError({
    index: null,
    seq: null,
    type: null,
    rule,
    path: rule,
    reason,
  });
}
