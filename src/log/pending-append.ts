/** An append that waits for its turn or for its answer, and whose caller is told once. */
import type { AppendRequest, AppendResult } from "./append-request.ts";
import { eventCountIn, isDeltaRun } from "../events/delta-run.ts";
import { replacedBy } from "./check-batch.ts";
import type { EventTypes } from "./event-types.ts";
import { Sending } from "./send.ts";

/** Tells the caller; the first call counts. */
export interface Caller {
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

export interface PendingAppend extends Caller {
  readonly request: AppendRequest;
  readonly sending: Sending;
  /** True when it goes by itself, by the way that settles every case. */
  isDirect: boolean;
}

/** Events that one of several appends in a call may have; a larger append is worth a call of its own. */
const MAX_SMALL_EVENTS = 32;

export function pendingAppend(
  request: AppendRequest,
  types: EventTypes,
  caller: Caller,
): PendingAppend {
  return {
    ...caller,
    request,
    sending: new Sending(request),
    isDirect: !isSmall(request, types),
  };
}

/** Small, and checked with nothing but the state before it. */
function isSmall(request: AppendRequest, types: EventTypes): boolean {
  const { items, recreate, allowFindings } = request;
  if (recreate || allowFindings || replacedBy(items).length > 0) return false;
  let events = 0;
  for (const item of items) {
    events += eventCountIn(item);
    if (events > MAX_SMALL_EVENTS) return false;
    if (!isDeltaRun(item) && !item.ignorable && !types.hasMet(item.type))
      return false;
  }
  return true;
}
