/** What an append is: asked for, and answered. */
import { randomUUID } from "node:crypto";
import { parseHeader, type SessionHeader } from "../events/header.ts";
import { isJsonObject, type JsonValue } from "../events/json.ts";
import { badCall } from "./bad-call.ts";
import type { AppendId, SessionId } from "../events/ids.ts";
import { detachJson, NotLosslessError } from "../events/lossless-json.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import type { SizeLimits } from "./encode-append.ts";
import type { AppendItem } from "./take-events.ts";

export interface AppendRequest {
  readonly sessionId: SessionId;
  readonly appendId: AppendId;
  /** Taken over from the caller. */
  readonly items: readonly AppendItem[];
  /** Seq the first event gets: the number of events now, 0 for a new session; `any` appends at the end, whatever it is. */
  readonly expectedSeq: number | "any";
  /** For a new session. */
  readonly header: JsonValue;
  readonly tenant: string | null;
  readonly recreate: boolean;
  /** Store events that break a rule between events; what they are by themselves is checked all the same. */
  readonly allowFindings: boolean;
  /** Epoch ms stamped on events without a time. */
  readonly now: number;
  /** How long a lost connection is met by sending again, in ms. */
  readonly timeoutMs: number;
  readonly limits: SizeLimits;
}

export interface AppendResult {
  readonly firstSeq: number;
  /** Expected seq of the next append. */
  readonly nextSeq: number;
  /** True when this append id was stored before: nothing was added now. */
  readonly deduplicated: boolean;
}

/** What a first append makes of a session. */
export interface Creation {
  readonly incarnation: string;
  readonly header: SessionHeader;
  readonly headerText: string;
  readonly tenant: string | null;
  readonly recreate: boolean;
}

/**
 * Takes a header over from the caller.
 * @throws EventInvalidError when it can't be stored
 */
export function takeHeader(given: unknown): JsonValue {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw badCall("header", "must be an object");
  try {
    return detachJson(
      Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      ),
    );
  } catch (error) {
    if (error instanceof NotLosslessError)
      throw badCall(`header${error.path}`, error.reason);
    throw error;
  }
}

/** @throws EventInvalidError when the header could not be opened again */
export function creationOf(
  request: Pick<
    AppendRequest,
    "sessionId" | "now" | "tenant" | "recreate" | "header"
  >,
): Creation {
  const { sessionId, now, tenant, recreate } = request;
  try {
    const given = isJsonObject(request.header) ? request.header : {};
    const header = parseHeader({
      createdAt: now,
      delegationDepth: 0,
      ...given,
      version: 0,
      id: sessionId,
    });
    return {
      incarnation: randomUUID(),
      header,
      headerText: stringifyJson(header),
      tenant,
      recreate,
    };
  } catch (error) {
    if (error instanceof RuleViolation)
      throw badCall(`header.${error.path}`, error.reason);
    throw error;
  }
}
