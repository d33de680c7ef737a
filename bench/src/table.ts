/** Results as text: a table a scenario, for the terminal and for the docs alike. */
import type { Figure, ScenarioResult } from "./result.ts";
import { median } from "./statistics.ts";

/** What the costs are called in a table; those that a figure has are shown. */
const COSTS: Readonly<Record<string, string>> = {
  roundTrips: "round trips",
  statements: "statements",
  commits: "commits",
  walSyncs: "WAL fsyncs",
  walBytes: "WAL bytes",
  clientCpuUs: "client CPU µs",
  serverCpuUs: "server CPU µs",
  p50Ms: "p50 ms",
  p99Ms: "p99 ms",
  peakMiB: "heap MiB, at most",
  updates: "updates",
  deadRows: "dead rows",
  vacuums: "autovacuums",
  kilobytes: "kB with indexes",
};

/** A Markdown section. */
export function formatResult(result: ScenarioResult): string {
  const { scenario, title, figures, warnings } = result;
  return [
    `## ${scenario}: ${title}`,
    "",
    ...(figures.length === 0 ? [] : table(figures)),
    ...warnings.flatMap((warning) => ["", `**Doubtful:** ${warning}`]),
    "",
  ].join("\n");
}

/** Median of the figure, or of its ratios where it is compared. */
export function outcomeOf({ baseline, rounds, ratios }: Figure): number {
  return median(baseline === null ? rounds : ratios);
}

function table(figures: readonly Figure[]): readonly string[] {
  const names = [
    ...new Set(figures.flatMap(({ costs }) => Object.keys(costs))),
  ];
  const head = ["", "median", "ratio (least to most)", "target"];
  const rows = figures.map((figure) => [
    figure.name,
    `${short(median(figure.rounds))} ${figure.unit}`,
    ratioText(figure),
    targetText(figure),
    ...names.map((name) => costText(figure.costs[name])),
  ]);
  return markdown([...head, ...names.map((name) => COSTS[name] ?? name)], rows);
}

function ratioText({ baseline, ratios }: Figure): string {
  if (baseline === null) return "";
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${short(median(ratios))} (${short(least)} to ${short(most)})`;
}

function targetText(figure: Figure): string {
  const { target, better } = figure;
  if (target === null) return "";
  const outcome = outcomeOf(figure);
  const isMet = better === "higher" ? outcome >= target : outcome <= target;
  const sign = better === "higher" ? "≥" : "≤";
  return `${sign} ${short(target)} ${isMet ? "met" : "missed"}`;
}

function costText(cost: number | undefined): string {
  return cost === undefined || Number.isNaN(cost) ? "" : short(cost);
}

/** Three significant digits; whole numbers from a hundred on. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "?";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function markdown(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  return [
    markdownRow(head),
    markdownRow(head.map(() => "---")),
    ...rows.map(markdownRow),
  ];
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
