/** What an append is: asked for, and answered. */
import { randomUUID } from "node:crypto";
import { EventInvalidError } from "../errors.ts";
import type { NewEvent } from "../events/event.ts";
import {
  parseHeader,
  type NewSessionHeader,
  type SessionHeader,
} from "../events/header.ts";
import type { AppendId, SessionId } from "../events/ids.ts";
import { detachJson, NotLosslessError } from "../events/lossless-json.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import type { SizeLimits } from "./encode-append.ts";

export interface AppendRequest {
  readonly sessionId: SessionId;
  readonly appendId: AppendId;
  readonly events: readonly NewEvent[];
  /** Seq the first event gets: the number of events now, 0 for a new session; `any` appends at the end, whatever it is. */
  readonly expectedSeq: number | "any";
  /** For a new session. */
  readonly header: NewSessionHeader;
  readonly tenant: string | null;
  readonly recreate: boolean;
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

/** @throws EventInvalidError when header or tenant can't be stored */
export function creationOf(request: AppendRequest): Creation {
  const { sessionId, now, tenant, recreate } = request;
  if (tenant !== null && (tenant.includes("\0") || !tenant.isWellFormed()))
    throw badCall("tenant", "must be well-formed text without NUL");
  try {
    const given = {
      createdAt: now,
      delegationDepth: 0,
      ...request.header,
      version: 0,
      id: sessionId,
    };
    const header = parseHeader(detachJson(given));
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
    if (error instanceof NotLosslessError)
      throw badCall(`header${error.path}`, error.reason);
    throw error;
  }
}

/** @throws EventInvalidError when it is no seq */
export function checkExpectedSeq(expectedSeq: number): number {
  if (!Number.isSafeInteger(expectedSeq) || expectedSeq < 0)
    throw badCall("expectedSeq", "must be a seq or 'any'");
  return expectedSeq;
}

function badCall(path: string, reason: string): EventInvalidError {
  return new EventInvalidError({
    index: null,
    seq: null,
    type: null,
    rule: "call",
    path,
    reason,
  });
}
