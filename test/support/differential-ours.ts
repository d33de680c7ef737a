/** Our rules in memory: whether we take a log, or one event after another. */
import { checkEvent } from "../../src/events/envelope.ts";
import type { SessionHeader } from "../../src/events/header.ts";
import { RuleViolation } from "../../src/events/rule-violation.ts";
import { LogChecker } from "../../src/events/rules/log-checker.ts";
import {
  followRules,
  initRules,
  type RulesState,
} from "../../src/events/rules/rules.ts";
import { SurfaceCheck } from "../../src/events/rules/surface-check.ts";
import { checkData } from "../../src/events/schemas/check-data.ts";
import {
  appendNode,
  EMPTY_SURFACE,
  replaceNodes,
  shadowedNodes,
  type Surface,
  type SurfaceOp,
} from "../../src/events/surface.ts";
import { isKnownType } from "../../src/events/vocabulary.ts";
import type { AnyEvent } from "./illegal-changes.ts";

/** The first rule an event breaks. */
export interface Refusal {
  readonly type: string;
  readonly rule: string;
  readonly message: string;
}

type Header = Pick<SessionHeader, "seedLength">;

/** The first rule that the log breaks; null when it breaks none. */
export function ourRefusal(
  header: Header,
  events: readonly AnyEvent[],
): (Refusal & { readonly at: number }) | null {
  const checker = new LogChecker(header);
  for (const [at, event] of events.entries()) {
    const [violation] = [...lacks(event), ...checker.add(event).violations];
    if (violation !== undefined) return { at, ...refusalOf(event, violation) };
    const unknown = unknownType(event);
    if (unknown !== null) return { at, ...unknown };
  }
  return null;
}

/** What an append to a session checks, event by event. */
export class OurSession {
  #state: RulesState;
  readonly #check = new SurfaceCheck();
  #surface: Surface = EMPTY_SURFACE;
  #next = 0;

  constructor(header: Header) {
    this.#state = initRules(header);
  }

  get length(): number {
    return this.#next;
  }

  get state(): RulesState {
    return this.#state;
  }

  get surface(): readonly number[] {
    return this.#surface.seqs;
  }

  /** Takes the event, or says which rule it breaks and stays as it was. */
  append(event: AnyEvent): Refusal | null {
    try {
      const checked = { ...checkEvent(event, this.#next), seq: this.#next };
      checkData(checked.type, checked.data);
      const unknown = unknownType(event);
      if (unknown !== null) return unknown;
      const { state, violations } = followRules(this.#state, checked);
      const [violation] = violations;
      if (violation !== undefined) return refusalOf(event, violation);
      this.#check.add(checked);
      this.#surface = placed(this.#surface, this.#next, checked.surfaceOp);
      this.#state = state;
      this.#next += 1;
      return null;
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      return refusalOf(event, error);
    }
  }
}

/** The surface with the event on it, by the functions that a look-up of the store uses too. */
export function placed(
  surface: Surface,
  seq: number,
  op: SurfaceOp | null,
): Surface {
  if (op === null) return surface;
  if (op === "append") return appendNode(surface, seq);
  const shadowed = shadowedNodes(surface, op);
  if (typeof shadowed === "string") throw new Error(shadowed);
  return replaceNodes(surface, shadowed, seq);
}

/** An append may leave both to the store; the reader of a file looks for them itself, as here. */
function lacks({ seq, time }: AnyEvent): readonly RuleViolation[] {
  if (typeof seq !== "number") return [violationOf("seq")];
  return typeof time === "number" ? [] : [violationOf("time")];
}

function violationOf(rule: string): RuleViolation {
  return new RuleViolation(rule, rule, "must be there");
}

function unknownType(event: AnyEvent): Refusal | null {
  const { type, ignorable } = event;
  if (ignorable === true || isKnownType(type)) return null;
  return { type, rule: "unknown-type", message: `${type} is unknown` };
}

function refusalOf({ type }: AnyEvent, violation: RuleViolation): Refusal {
  return { type, rule: violation.rule, message: violation.message };
}
