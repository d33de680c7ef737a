/**
 * Rules that only a look at the whole log can check: what they need from the past grows with it, so an append does not
 * carry it. Broken ones are findings of `turnlog check`, never a refusal.
 */
import { member } from "../event.ts";
import { isJsonArray, type JsonValue } from "../json.ts";
import { RuleViolation } from "../rule-violation.ts";
import { SurfaceOrder } from "../surface.ts";
import { stepOf, textOf, turnOf, type RuleEvent } from "./rule-event.ts";

/** Ids that stand for one thing in the whole log, by the event that brings them in. */
const UNIQUE_IDS: Readonly<Record<string, string>> = {
  "approval/asked": "id",
  "command/run": "commandId",
  "compaction/start": "compactionId",
};

/** Calls and results on a node of the surface, each named by turn, step and call id. */
interface NodeCalls {
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

export class LogWideCheck {
  readonly #ids = new Map<string, Set<string>>();
  readonly #nodes = new Map<number, NodeCalls>();
  readonly #surface = new SurfaceOrder();
  /** Calls that a replacement took off the surface before they had their result. */
  readonly #unanswered = new Set<string>();
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
    const node = callsOf(event);
    if (surfaceOp === "append") {
      this.#surface.append(seq);
      this.#nodes.set(seq, node);
      return split(
        node.results.filter((call) => this.#unanswered.delete(call)),
      );
    }
    const shadowed = this.#surface.shadowedBy(surfaceOp);
    if (typeof shadowed === "string") return [];
    const gone = this.#callsAmong(shadowed);
    for (const shadow of shadowed) this.#nodes.delete(shadow);
    this.#surface.replace(shadowed, seq);
    this.#nodes.set(seq, node);
    const left = this.#callsAmong(this.#surface.seqs);
    const lost = [...gone.calls].filter((call) => !left.calls.has(call));
    for (const call of lost) {
      if (!gone.results.has(call) && !left.results.has(call))
        this.#unanswered.add(call);
    }
    return split([
      ...lost.filter((call) => left.results.has(call)),
      ...[...gone.results].filter(
        (call) => left.calls.has(call) && !left.results.has(call),
      ),
    ]);
  }

  #callsAmong(seqs: readonly number[]): {
    readonly calls: ReadonlySet<string>;
    readonly results: ReadonlySet<string>;
  } {
    const nodes = seqs.flatMap((seq) => this.#nodes.get(seq) ?? []);
    return {
      calls: new Set(nodes.flatMap((node) => node.calls)),
      results: new Set(nodes.flatMap((node) => node.results)),
    };
  }
}

function split(calls: readonly string[]): readonly RuleViolation[] {
  return calls.map(
    (call) =>
      new RuleViolation(
        "split-tool-pair",
        "surfaceOp",
        `parts the call ${call} from its result`,
      ),
  );
}

/** Providers begin call ids anew with each answer, so an id counts in its own turn and step. */
function callsOf(event: RuleEvent): NodeCalls {
  const content = member(member(event.data, "message"), "content");
  const blocks = content !== undefined && isJsonArray(content) ? content : [];
  const place = `${turnOf(event) ?? ""}.${stepOf(event) ?? ""}`;
  return {
    calls: idsOf(blocks, "tool-call", "id", place),
    results: idsOf(blocks, "tool-result", "toolCallId", place),
  };
}

function idsOf(
  blocks: readonly JsonValue[],
  type: string,
  key: string,
  place: string,
): readonly string[] {
  return blocks.flatMap((block) => {
    const id = member(block, key);
    return member(block, "type") === type && typeof id === "string"
      ? [`${id} of step ${place}`]
      : [];
  });
}
