/** An audit of a whole log: what an append checks, and what only a look at all of it can find. */
import type { UncheckedEvent } from "../envelope.ts";
import type { SessionEvent } from "../event.ts";
import type { SessionHeader } from "../header.ts";
import type { RuleViolation } from "../rule-violation.ts";
import { LogChecker } from "./log-checker.ts";
import { LogWideCheck } from "./log-wide.ts";
import type { RulesState } from "./rules.ts";
import { ruleEventOf } from "./rule-event.ts";

/** A broken rule and where it is broken. */
export interface Finding {
  readonly seq: number | null;
  /** Line of the file, the header included; null in a stored log. */
  readonly line: number | null;
  readonly type: string | null;
  readonly rule: string;
  readonly path: string;
  readonly reason: string;
}

/** Findings that are kept; a log with more is counted on. */
const MAX_FINDINGS = 1_000;

export class LogAudit {
  readonly findings: Finding[] = [];
  #count = 0;
  readonly #checker: LogChecker;
  readonly #wide = new LogWideCheck();

  constructor(header: Pick<SessionHeader, "seedLength">) {
    this.#checker = new LogChecker(header);
  }

  get nextSeq(): number {
    return this.#checker.nextSeq;
  }

  get state(): RulesState {
    return this.#checker.state;
  }

  /** All findings, those beyond the kept ones included. */
  get count(): number {
    return this.#count;
  }

  /** Takes the next event as it was written. */
  add(event: UncheckedEvent, line: number | null = null): void {
    const seq = this.nextSeq;
    const { checked, violations } = this.#checker.add(event);
    const wide = checked === null ? [] : this.#wide.add({ ...checked, seq });
    this.#note(
      [...violations, ...wide],
      seq,
      line,
      typeof event.type === "string" ? event.type : null,
    );
  }

  /** Notes a gap, or a step back, in a file, and goes on from there. */
  jumpTo(seq: unknown, line: number): void {
    const isJump =
      typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0;
    if (!isJump) return;
    this.note(
      {
        rule: "seq",
        path: "seq",
        reason: `is ${seq}, but seq ${this.nextSeq} comes next`,
      },
      line,
    );
    this.#checker.jumpTo(seq);
  }

  /** Takes the next event out of a packed row, which is right by itself. */
  follow(event: SessionEvent, line: number | null): void {
    const seq = this.nextSeq;
    this.#note(this.#checker.follow(ruleEventOf(event)), seq, line, event.type);
  }

  /** Notes something that is no event at all. */
  note(
    violation: Pick<RuleViolation, "rule" | "path" | "reason">,
    line: number | null,
  ): void {
    this.#note([violation], null, line, null);
  }

  #note(
    violations: readonly Pick<RuleViolation, "rule" | "path" | "reason">[],
    seq: number | null,
    line: number | null,
    type: string | null,
  ): void {
    for (const { rule, path, reason } of violations) {
      this.#count += 1;
      if (this.findings.length < MAX_FINDINGS)
        this.findings.push({ seq, line, type, rule, path, reason });
    }
  }
}
