/** Imports files, several at a time, shows how far it is, and says what became of each. */
import { countOf, formatCount, printableLine, Progress } from "./output.ts";
import {
  importFile,
  type ImportOptions,
  type ImportReport,
} from "../io/import-file.ts";
import type { SessionStore } from "../session-store.ts";

/** A file, and what importing it needs beyond the common options. */
export interface ImportTask {
  readonly file: string;
  readonly options?: Pick<ImportOptions, "open" | "requireHeader">;
}

export interface ImportRun extends Pick<
  ImportOptions,
  "allowFindings" | "dryRun"
> {
  /** Files at a time. @defaultValue 1 */
  readonly concurrency?: number;
}

/** Refused files are reported and the others go on. Reports are in the order of the tasks. */
export async function importFiles(
  store: SessionStore,
  tasks: readonly ImportTask[],
  run: ImportRun = {},
): Promise<ImportReport[]> {
  const { concurrency = 1, ...common } = run;
  const reports: ImportReport[] = [];
  const meter = new Meter(tasks.length);
  const left = tasks.entries();
  const worker = async (): Promise<void> => {
    for (const [at, { file, options }] of left) {
      const report = await importFile(store, file, {
        ...common,
        ...options,
        onProgress: ({ phase, events }) => meter.show(at, file, phase, events),
      });
      meter.done(at);
      for (const line of remarksOn(report, common.dryRun === true))
        console.error(printableLine(line));
      reports[at] = report;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return reports;
}

/** One line for all files in hand: how many are done, and events a second over all. */
class Meter {
  readonly #progress = new Progress();
  readonly #files: number;
  readonly #startedAt = performance.now();
  /** Events followed so far, in files that are done and in each that is in hand. */
  #before = 0;
  readonly #inHand = new Map<number, { check: number; append: number }>();
  #done = 0;

  constructor(files: number) {
    this.#files = files;
  }

  show(
    at: number,
    file: string,
    phase: "check" | "append",
    events: number,
  ): void {
    const counts = this.#inHand.get(at) ?? { check: 0, append: 0 };
    this.#inHand.set(at, { ...counts, [phase]: events });
    this.#progress.show(() => {
      const perSecond =
        (this.#total() * 1_000) / (performance.now() - this.#startedAt);
      return `${this.#done}/${this.#files}  ${file}  ${phase}  ${formatCount(events)} events  ${formatCount(Math.round(perSecond))}/s`;
    });
  }

  done(at: number): void {
    this.#before += eventsOf(this.#inHand.get(at));
    this.#inHand.delete(at);
    this.#done += 1;
    this.#progress.clear();
  }

  #total(): number {
    return [...this.#inHand.values()].reduce(
      (sum, counts) => sum + eventsOf(counts),
      this.#before,
    );
  }
}

/** Each event is looked at twice: checked, and appended or compared. */
function eventsOf(
  counts: { readonly check: number; readonly append: number } | undefined,
): number {
  return counts === undefined ? 0 : (counts.check + counts.append) / 2;
}

const FINDINGS_HINT =
  "; if the log is wanted as it is, import it with --allow-findings";

/** What a person should know of an import beyond its row in the table: `file:line: what`. */
function remarksOn(report: ImportReport, isDryRun: boolean): string[] {
  const { file, line, reason, code, tail, converted, findingCount } = report;
  const at = (number: number | null): string =>
    number === null ? file : `${file}:${number}`;
  const remarks: string[] = [];
  if (reason !== null)
    remarks.push(
      `${at(line)}: refused: ${reason}${code === "RULE_BROKEN" ? FINDINGS_HINT : ""}`,
    );
  if (tail !== null)
    remarks.push(
      `${at(tail.line)}: the tail from this line on is torn and left out: ${tail.reason}`,
    );
  if (converted > 0)
    remarks.push(
      `${file}: ${countOf(converted, "event")} of an earlier shape converted`,
    );
  remarks.push(...report.remarks.map((remark) => `${file}: note: ${remark}`));
  if (findingCount > 0)
    remarks.push(
      isDryRun
        ? `${file}: ${countOf(findingCount, "finding")} would be accepted; see: turnlog check ${file}`
        : `${file}: ${countOf(findingCount, "finding")} accepted; see: turnlog check ${report.sessionId ?? file}`,
    );
  return remarks;
}
