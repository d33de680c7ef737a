/** Keeps results in docs/benchmarks.json, a scenario over its earlier result, and writes docs/benchmarks.md from it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { packageRoot } from "../../src/db/package-root.ts";
import { formatReport } from "./report.ts";
import { parseResults, type ScenarioResult } from "./result.ts";
import { scenarios } from "./scenarios.ts";

const DOCS = join(packageRoot(), "docs");
const RESULTS = join(DOCS, "benchmarks.json");

export async function saveResults(
  results: readonly ScenarioResult[],
): Promise<void> {
  const kept = existsSync(RESULTS)
    ? parseResults(readFileSync(RESULTS, "utf8"))
    : [];
  const all = scenarios.flatMap(({ name }) => {
    const of = ({ scenario }: ScenarioResult): boolean => scenario === name;
    return results.find(of) ?? kept.find(of) ?? [];
  });
  const json = await format(JSON.stringify(all), { parser: "json" });
  writeFileSync(RESULTS, json);
  const markdown = await format(formatReport(all), { parser: "markdown" });
  writeFileSync(join(DOCS, "benchmarks.md"), markdown);
}
