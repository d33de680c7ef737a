/**
 * Rules that only a look at the whole log can check: what they need from the past grows with it, so an append does not
 * carry it. Broken ones are findings of `turnlog check`, never a refusal.
 */
import { member } from "../event.ts";
import { isJsonArray, type JsonValue } from "../json.ts";
import { RuleViolation } from "../rule-violation.ts";
import {
  appendNode,
  EMPTY_SURFACE,
  replaceNodes,
  shadowedNodes,
  type Surface,
} from "../surface.ts";
import { textOf, type RuleEvent } from "./rule-event.ts";

/** Ids that stand for one thing in the whole log, by the event that brings them in. */
const UNIQUE_IDS: Readonly<Record<string, string>> = {
  "approval/asked": "id",
  "command/run": "commandId",
  "compaction/start": "compactionId",
};

/** Call ids on a node of the surface. */
interface NodeCalls {
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

export class LogWideCheck {
  readonly #ids = new Map<string, Set<string>>();
  readonly #nodes = new Map<number, NodeCalls>();
  #surface: Surface = EMPTY_SURFACE;
  #callsOfStep = new Set<string>();

  /** Takes the next event and returns what it breaks. */
  add(event: RuleEvent): readonly RuleViolation[] {
    return [
      ...this.#repeatedId(event),
      ...this.#repeatedCall(event),
      ...this.#splitPairs(event),
    ];
  }

  #repeatedId(event: RuleEvent): readonly RuleViolation[] {
    const key = Object.hasOwn(UNIQUE_IDS, event.type)
      ? UNIQUE_IDS[event.type]
      : undefined;
    if (key === undefined) return [];
    const ids = this.#ids.get(event.type) ?? new Set();
    this.#ids.set(event.type, ids);
    const id = textOf(event, key);
    if (ids.has(id))
      return [
        new RuleViolation(
          "unique-id",
          `data.${key}`,
          `is ${id}, which the log has had before`,
        ),
      ];
    ids.add(id);
    return [];
  }

  /** Calls of one id in one step can't be told apart by their results. */
  #repeatedCall(event: RuleEvent): readonly RuleViolation[] {
    if (event.type === "step/start") this.#callsOfStep = new Set();
    if (event.type !== "tool/call") return [];
    const callId = textOf(event, "callId");
    if (this.#callsOfStep.has(callId))
      return [
        new RuleViolation(
          "repeated-call-id",
          "data.callId",
          `is ${callId}, which this step has had before`,
        ),
      ];
    this.#callsOfStep.add(callId);
    return [];
  }

  /** A replacement that takes a call away and leaves its result, or the other way round, breaks the conversation. */
  #splitPairs(event: RuleEvent): readonly RuleViolation[] {
    const { surfaceOp, seq } = event;
    if (surfaceOp === null) return [];
    this.#nodes.set(seq, callsOf(event));
    if (surfaceOp === "append") {
      this.#surface = appendNode(this.#surface, seq);
      return [];
    }
    const shadowed = shadowedNodes(this.#surface, surfaceOp);
    if (typeof shadowed === "string") return [];
    const gone = this.#callsAmong(shadowed);
    this.#surface = replaceNodes(this.#surface, shadowed, seq);
    for (const node of shadowed) this.#nodes.delete(node);
    const left = this.#callsAmong(this.#surface.seqs);
    const split = [
      ...gone.calls.filter(
        (id) => left.results.includes(id) && !left.calls.includes(id),
      ),
    ];
    split.push(
      ...gone.results.filter(
        (id) => left.calls.includes(id) && !left.results.includes(id),
      ),
    );
    return split.map(
      (id) =>
        new RuleViolation(
          "split-tool-pair",
          "surfaceOp",
          `parts the call ${id} from its result`,
        ),
    );
  }

  #callsAmong(seqs: readonly number[]): NodeCalls {
    const nodes = seqs.flatMap((seq) => this.#nodes.get(seq) ?? []);
    return {
      calls: nodes.flatMap(({ calls }) => calls),
      results: nodes.flatMap(({ results }) => results),
    };
  }
}

function callsOf(event: RuleEvent): NodeCalls {
  const content = member(
    event.type === "user/message" ? event.data : member(event.data, "message"),
    "content",
  );
  const blocks = content !== undefined && isJsonArray(content) ? content : [];
  return {
    calls: idsOf(blocks, "tool-call", "id"),
    results: idsOf(blocks, "tool-result", "toolCallId"),
  };
}

function idsOf(
  blocks: readonly JsonValue[],
  type: string,
  key: string,
): readonly string[] {
  return blocks.flatMap((block) => {
    const id = member(block, key);
    return member(block, "type") === type && typeof id === "string" ? [id] : [];
  });
}
