/** Imports files one after the other, shows how far it is, and says what became of each. */
import { importFile, type ImportReport } from "../io/import-file.ts";
import type { SessionStore } from "../session-store.ts";
import { formatCount, Progress } from "./output.ts";

/** Refused files are reported and the others go on. */
export async function importFiles(
  store: SessionStore,
  files: readonly string[],
): Promise<ImportReport[]> {
  const reports: ImportReport[] = [];
  const progress = new Progress();
  for (const [at, file] of files.entries()) {
    const startedAt = performance.now();
    const report = await importFile(store, file, ({ phase, events }) => {
      progress.show(() => {
        const perSecond = Math.round(
          (events * 1_000) / (performance.now() - startedAt),
        );
        return `${at + 1}/${files.length}  ${file}  ${phase}  ${formatCount(events)} events  ${formatCount(perSecond)}/s`;
      });
    });
    progress.clear();
    if (report.outcome === "refused") console.error(refusal(report));
    reports.push(report);
  }
  return reports;
}

/** `file:line: reason`. */
function refusal(report: ImportReport): string {
  const where =
    report.line === null ? report.file : `${report.file}:${report.line}`;
  return `${where}: refused: ${report.reason ?? ""}`;
}
