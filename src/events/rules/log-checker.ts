/** Checks a log event by event, from its beginning: every rule that an append checks, in the same order. */
import {
  placeEvent,
  takeEvent,
  type CheckedEvent,
  type UncheckedEvent,
} from "../envelope.ts";
import type { SessionHeader } from "../header.ts";
import { RuleViolation } from "../rule-violation.ts";
import { firstOf, type CheckedRun, type RunBlock } from "../expand-runs.ts";
import { checkData } from "../schemas/check-data.ts";
import { ruleEventOf, type RuleEvent } from "./rule-event.ts";
import { followRules, initRules, type RulesState } from "./rules.ts";
import { SurfaceCheck } from "./surface-check.ts";

export class LogChecker {
  readonly #surface = new SurfaceCheck();
  #state: RulesState;
  #nextSeq = 0;

  constructor(header: Pick<SessionHeader, "seedLength">) {
    this.#state = initRules(header);
  }

  /** Seq that the next event gets. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Goes on at another seq, for a log that has a gap. */
  jumpTo(seq: number): void {
    this.#nextSeq = seq;
  }

  /** State that the log so far leaves. */
  get state(): RulesState {
    return this.#state;
  }

  /**
   * Takes the next event and returns the rules it breaks, the first one first. An event whose envelope or data is wrong
   * is not followed further.
   * @param take checks the event's envelope and makes it ours; by default by copying it
   */
  add(
    event: UncheckedEvent,
    take: (event: UncheckedEvent) => CheckedEvent = takeEvent,
  ): {
    readonly checked: CheckedEvent | null;
    readonly violations: readonly RuleViolation[];
  } {
    try {
      const checked = take(event);
      placeEvent(checked, this.#nextSeq);
      checkData(checked.type, checked.data);
      return { checked, violations: this.follow(checked) };
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      this.#nextSeq += 1;
      return { checked: null, violations: [error] };
    }
  }

  /** Takes all deltas of a run at once, where they break no rule; else takes none of them and returns false. */
  takesRun(run: CheckedRun): boolean {
    const first = firstOf(run);
    checkData(first.type, first.data);
    const { state, violations } = followRules(this.#state, ruleEventOf(first));
    if (violations.length > 0) return false;
    this.#state = state;
    this.#nextSeq += run.eventCount;
    return true;
  }

  /** Takes a delta that is right by itself, where it breaks no rule; else leaves it and returns false. */
  takesDelta({ turn, step }: RunBlock): boolean {
    const { state, violations } = followRules(this.#state, {
      type: "assistant/chunk",
      seq: this.#nextSeq,
      data: { turn, step },
      surfaceOp: null,
      sourceEventSeqs: null,
    });
    if (violations.length > 0) return false;
    this.#state = state;
    this.#nextSeq += 1;
    return true;
  }

  /** Takes an event that is right by itself, and returns the rules it breaks. */
  follow(event: Omit<RuleEvent, "seq">): readonly RuleViolation[] {
    const placed: RuleEvent = {
      type: event.type,
      seq: this.#nextSeq,
      data: event.data,
      surfaceOp: event.surfaceOp,
      sourceEventSeqs: event.sourceEventSeqs,
    };
    this.#nextSeq += 1;
    const { state, violations } = followRules(this.#state, placed);
    this.#state = state;
    try {
      this.#surface.add(placed);
      return violations;
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      return [...violations, error];
    }
  }
}
