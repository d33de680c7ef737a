/** Checks a log event by event, from its beginning: every rule that an append checks, in the same order. */
import {
  checkEvent,
  type CheckedEvent,
  type UncheckedEvent,
} from "../envelope.ts";
import type { SessionHeader } from "../header.ts";
import { RuleViolation } from "../rule-violation.ts";
import { checkData } from "../schemas/check-data.ts";
import type { RuleEvent } from "./rule-event.ts";
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
   */
  add(event: UncheckedEvent): {
    readonly checked: CheckedEvent | null;
    readonly violations: readonly RuleViolation[];
  } {
    try {
      const checked = checkEvent(event, this.#nextSeq);
      checkData(checked.type, checked.data);
      return { checked, violations: this.follow(checked) };
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      this.#nextSeq += 1;
      return { checked: null, violations: [error] };
    }
  }

  /** The same for an event that is right by itself. */
  follow(event: Omit<RuleEvent, "seq">): readonly RuleViolation[] {
    const placed = { ...event, seq: this.#nextSeq };
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
