/** Follows a log by every rule of an append, before anything of it is stored. */
import { EventTooLargeError, EventTypeUnknownError } from "../errors.ts";
import { takeParsedEvent } from "../events/envelope.ts";
import { membersOf, type CheckedRun } from "../events/expand-runs.ts";
import type { JsonObject, JsonValue } from "../events/json.ts";
import { readPlainDelta } from "../events/plain-delta.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import type { Finding } from "../events/rules/log-audit.ts";
import { LogChecker } from "../events/rules/log-checker.ts";
import { ruleEventOf } from "../events/rules/rule-event.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import { isKnownType } from "../events/vocabulary.ts";
import { LogFileError } from "./log-file-error.ts";
import { at } from "./log-lines.ts";
import type { LogRecords, PlacedRecord } from "./log-records.ts";

export interface CheckOptions {
  /** True for a type that needs no mark of being ignorable. */
  readonly knowsType: (type: string) => Promise<boolean>;
  /** Characters of JSON that the data of one event may have. */
  readonly maxEventCharacters: number;
  /** Take events that break a rule between events, and report them. */
  readonly allowFindings: boolean;
  /** Called with the number of events so far. */
  readonly onProgress: (events: number) => void;
}

/** Rules between events that a log breaks. */
export interface Checked {
  readonly events: number;
  readonly findings: readonly Finding[];
  /** All of them; `findings` holds the first thousand. */
  readonly findingCount: number;
}

const MAX_FINDINGS = 1_000;

/**
 * Reads all records.
 * @throws LogFileError naming the first line that can't be stored
 */
export async function checkRecords(
  log: LogRecords,
  options: CheckOptions,
): Promise<Checked> {
  const check = new RecordCheck(new LogChecker(log.header), options);
  for await (const record of log.records) {
    await check.follow(record);
    options.onProgress(check.events);
  }
  return check;
}

class RecordCheck implements Checked {
  readonly findings: Finding[] = [];
  findingCount = 0;
  readonly #checker: LogChecker;
  readonly #options: CheckOptions;

  constructor(checker: LogChecker, options: CheckOptions) {
    this.#checker = checker;
    this.#options = options;
  }

  get events(): number {
    return this.#checker.nextSeq;
  }

  async follow({ line, characters, record }: PlacedRecord): Promise<void> {
    const { maxEventCharacters: limit } = this.#options;
    if ("run" in record) {
      this.#followRun(record.run, line);
      if (characters > limit)
        for (const { data } of membersOf(record.run))
          at(line, () => requireSize(data, limit));
      return;
    }
    const { event } = record;
    // Nearly all events are deltas, of which everything but the open step can be said at a look.
    const delta = characters > limit ? null : readPlainDelta(event, true);
    if (
      delta !== null &&
      delta.time !== null &&
      this.#checker.takesDelta(delta)
    )
      return;
    this.#followEvent(record, line);
    if (characters > limit)
      at(line, () => requireSize(event["data"] ?? null, limit));
    await this.#requireType(event, line);
  }

  #followRun(run: CheckedRun, line: number): void {
    if (at(line, () => this.#checker.takesRun(run))) return;
    for (const event of membersOf(run)) {
      const { nextSeq } = this.#checker;
      const violations = this.#checker.follow(ruleEventOf(event));
      this.#note(violations, { line, seq: nextSeq, type: event.type });
    }
  }

  #followEvent(
    { event, characters }: { event: JsonObject; characters: number },
    line: number,
  ): void {
    const { nextSeq } = this.#checker;
    const { checked, violations } = this.#checker.add(event, () =>
      takeParsedEvent(event, characters),
    );
    if (checked === null) at(line, () => refuse(violations));
    if (checked?.time === null)
      at(line, () =>
        refuse([new RuleViolation("time", "time", "must be there")]),
      );
    this.#note(violations, { line, seq: nextSeq, type: checked?.type ?? null });
  }

  #note(
    violations: readonly RuleViolation[],
    where: Pick<Finding, "line" | "seq" | "type">,
  ): void {
    for (const { rule, path, reason, message } of violations) {
      if (!this.#options.allowFindings)
        throw new LogFileError("RULE_BROKEN", where.line, message);
      this.findingCount += 1;
      if (this.findings.length < MAX_FINDINGS)
        this.findings.push({ ...where, rule, path, reason });
    }
  }

  async #requireType(event: JsonObject, line: number): Promise<void> {
    const { type, ignorable } = event;
    if (typeof type !== "string" || ignorable === true || isKnownType(type))
      return;
    if (await this.#options.knowsType(type)) return;
    const error = new EventTypeUnknownError({ type, seq: this.events - 1 });
    throw new LogFileError(error.code, line, error.message);
  }
}

function refuse([first]: readonly RuleViolation[]): void {
  if (first !== undefined) throw first;
}

function requireSize(data: JsonValue, limit: number): void {
  const actual = stringifyJson(data).length;
  if (actual > limit) throw new EventTooLargeError({ index: 0, actual, limit });
}
