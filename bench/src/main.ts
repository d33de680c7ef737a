/** The benchmarks' command line. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { compareResults } from "./compare.ts";
import { describeConditions } from "./conditions.ts";
import { parseResults, type ScenarioResult } from "./result.ts";
import { saveResults } from "./save.ts";
import type { Bench, Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { openServer, type BenchServer, type ServerChoice } from "./server.ts";
import { formatResult } from "./table.ts";

interface Options extends ServerChoice {
  readonly quick?: true;
  readonly compare?: string;
  readonly save?: true;
  readonly list?: true;
}

const program = new Command("bench")
  .description(
    "Holds Turnlog against its peers: interleaved rounds, ratios within a round, medians.",
  )
  .argument(
    "[scenarios...]",
    "names, or beginnings of names; default: all that are not long",
  )
  .option(
    "--quick",
    "3 short rounds each: to see that it works, not what it gives",
  )
  .option(
    "--database-url <url>",
    "a Postgres whose role may create databases; default: an embedded one",
  )
  .option(
    "--directory <folder>",
    "where the embedded server keeps its data; default: the folder for temporary files",
  )
  .option(
    "--compare <file>",
    "hold the ratios against those of a saved run; exit code 1 where one is a fifth worse",
  )
  .option("--save", "write docs/benchmarks.json and docs/benchmarks.md")
  .option("--list", "name the scenarios and end")
  .action(run);
await program.parseAsync();

async function run(names: readonly string[], options: Options): Promise<void> {
  const chosen = choose(names);
  if (options.list === true) {
    for (const { name, title, long } of scenarios)
      print(`${name.padEnd(16)} ${title}${long === true ? " (long)" : ""}`);
    return;
  }
  const earlier =
    options.compare === undefined
      ? null
      : parseResults(readFileSync(options.compare, "utf8"));
  const results: ScenarioResult[] = [];
  await using server = await openServer(options);
  closeOnSignal(server);
  for (const scenario of chosen) {
    const result = await runScenario(server, scenario, options.quick === true);
    print(formatResult(result));
    results.push(result);
    if (options.save === true) await saveResults(results);
  }
  const worse = earlier === null ? [] : compareResults(earlier, results);
  for (const line of worse) print(line);
  if (worse.length > 0) process.exitCode = 1;
}

function choose(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return scenarios.filter(({ long }) => long !== true);
  return names.flatMap((asked) => {
    const exact = scenarios.filter(({ name }) => name === asked);
    const found =
      exact.length > 0
        ? exact
        : scenarios.filter(({ name }) => name.startsWith(asked));
    if (found.length === 0)
      program.error(`error: there is no scenario ${asked}; see --list`);
    return found;
  });
}

async function runScenario(
  server: BenchServer,
  scenario: Scenario,
  quick: boolean,
): Promise<ScenarioResult> {
  const warnings: string[] = [];
  const bench: Bench = {
    server,
    quick,
    rounds: quick ? 3 : 5,
    windowMs: quick ? 500 : 2_000,
    say: (line) => process.stderr.write(`${scenario.name}  ${line}\n`),
    warn: (line) => warnings.push(line),
  };
  const { name, title } = scenario;
  const conditions = await describeConditions(bench);
  const figures = [...(await scenario.run(bench))];
  return { scenario: name, title, conditions, figures, warnings };
}

/** A server that nobody uses any more would go on running. */
function closeOnSignal(server: BenchServer): void {
  const close = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void close());
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
