/**
 * Messages as strict providers take them. Derived messages are verbatim, and a log may hold what an API refuses with
 * an error that no retry cures: a call without a result, an id used twice, an empty text, half a character.
 */
import { createCallIds } from "./provider-call-ids.ts";
import { healMessage, healResult } from "./provider-content.ts";
import { pairCalls } from "./provider-pairs.ts";
import {
  callIdsOf,
  missingResult,
  withCallIds,
  withResultId,
} from "./provider-calls.ts";
import type { Message } from "./message.ts";

/**
 * Heals derived messages for a provider. Pure and deterministic; applying it to its result changes nothing; a message
 * that needs nothing is returned itself, and none is changed in place.
 * - Lone surrogates become U+FFFD, also inside tool arguments. NUL stays: JSON can hold it.
 * - The results of an answer's calls stand right behind it, in the order of the calls. A result belongs to the nearest
 *   answer before it that made a call of its id; the same id twice in one answer is taken in order.
 * - A call without a result gets one, marked as an error, that says the outcome is unknown.
 * - A result without a call (a compaction may part them) becomes a user message that presents it as data.
 * - Call ids are made unique by a number of occurrence; the first keeps its id.
 * - Blank texts are dropped beside other blocks. What has nothing else: an answer is dropped, a result says
 *   `(no output)`, a user message says `(empty message)`.
 * - An answer's `replayState` loses the entries of dropped blocks, and goes where it would describe other content.
 * @example toProviderMessages(derived.map(({ message }) => message))
 */
export function toProviderMessages(messages: readonly Message[]): Message[] {
  const callIds = createCallIds();
  return pairCalls(messages).flatMap(({ message, results }) => {
    const healed = healMessage(message);
    if (healed === null) return [];
    const ids = callIdsOf(healed).map((id) => callIds.unique(id));
    const behind = ids.map((id, at) => {
      const result = results[at] ?? null;
      return result === null
        ? missingResult(id)
        : withResultId(healResult(result), id);
    });
    return [withCallIds(healed, ids), ...behind];
  });
}
