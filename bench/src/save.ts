/** Keeps results in docs/benchmarks.json, a scenario over its earlier result, and writes docs/benchmarks.md from it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/db/package-root.ts";
import { formatReport } from "./report.ts";
import { parseResults, type ScenarioResult } from "./result.ts";
import { scenarios } from "./scenarios.ts";

const DOCS = join(packageRoot(), "docs");
const RESULTS = join(DOCS, "benchmarks.json");

export function saveResults(results: readonly ScenarioResult[]): void {
  const kept = existsSync(RESULTS)
    ? parseResults(readFileSync(RESULTS, "utf8"))
    : [];
  const all = scenarios.flatMap(({ name }) => {
    const of = ({ scenario }: ScenarioResult): boolean => scenario === name;
    return results.find(of) ?? kept.find(of) ?? [];
  });
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(DOCS, "benchmarks.md"), formatReport(all));
}
