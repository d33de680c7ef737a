/** `turnlog rebuild` and `turnlog deploy`: new builds beside the live ones, then the swap. */
import { buildsOver, type Builds } from "../builds/operator.ts";
import type { RebuildResult } from "../builds/run-rebuild.ts";
import { ConfigInvalidError, RebuildStoppedError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import { abortOnSignal, StoppedError } from "../runtime/signals.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { printJson } from "./output.ts";
import { printPlan } from "./plan-output.ts";
import { withProgress } from "./rebuild-progress.ts";

const FAILED = 1;
const WRONG_USAGE = 2;

interface RunOptions extends CommonOptions {
  /** Print what would be done, and do nothing. */
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly maxConcurrent: number;
  /** Seconds. */
  readonly wait: number;
}

export interface RebuildCommandOptions extends RunOptions {
  readonly all?: boolean;
  /** Only this session, in the live builds. */
  readonly session?: string;
}

export async function rebuildCommand(
  given: readonly string[],
  options: RebuildCommandOptions,
): Promise<number> {
  await using context = await openContext(options);
  const builds = buildsOf(context);
  const names = namesOf(builds, given, options.all === true);
  if (options.session !== undefined)
    return await rebuildOne(builds, names, options.session, options);
  if (options.plan === true || options.yes !== true) {
    const plan = await builds.plan(names);
    return showPlan(plan, options);
  }
  return await interruptible(async (signal) => {
    const result = await withProgress(
      builds,
      names,
      options.json === true,
      builds.rebuild(names, runOptions(options, signal)),
    );
    if (options.json === true) printJson(result);
    else printResult(result);
    return 0;
  });
}

export interface DeployCommandOptions extends RunOptions {
  /** Seconds to feed the new builds in place of workers that are not there yet. */
  readonly handOver: number;
}

export async function deployCommand(
  options: DeployCommandOptions,
): Promise<number> {
  await using context = await openContext(options);
  const builds = buildsOf(context);
  const plan = await builds.planDeploy();
  if (plan === null) {
    if (options.json === true)
      printJson({ deployed: [], result: null, unfed: [] });
    else
      console.log("Every projection is live at the version of this release.");
    return 0;
  }
  if (options.plan === true || options.yes !== true)
    return showPlan(plan, options);
  const names = plan.projections.map(({ projection }) => projection);
  return await interruptible(async (signal) => {
    const done = await withProgress(
      builds,
      names,
      options.json === true,
      builds.deploy(runOptions(options, signal)),
    );
    const unfed =
      done.unfed.length > 0 && options.handOver > 0
        ? await builds.feedUntilWorkers({
            signal: AbortSignal.any([
              signal,
              AbortSignal.timeout(options.handOver * 1_000),
            ]),
          })
        : done.unfed;
    if (options.json === true) printJson({ ...done, unfed });
    else {
      if (done.result !== null) printResult(done.result);
      console.log(
        unfed.length === 0
          ? "Workers of this release feed the new builds. Those of the old one may stop."
          : `No worker of this release runs yet, so ${unfed.join(", ")} stand still: start them now, then stop those of the old release.`,
      );
    }
    return 0;
  });
}

/** @throws ConfigInvalidError when nothing is named */
export function namesOf(
  builds: Builds,
  given: readonly string[],
  isAll: boolean,
): readonly string[] {
  if (isAll) return builds.names;
  if (given.length === 0)
    throw new ConfigInvalidError(
      `Name projections, or say --all. There are ${builds.names.join(", ")}.`,
    );
  return [...new Set(given)];
}

export function buildsOf({
  db,
  projections,
}: Pick<Context, "db" | "projections">): Builds {
  return buildsOver(db, {
    projections,
    logger: silentLogger,
  });
}

/** Ctrl-C stops after the chunk in hand; what is done is kept. */
export async function interruptible(
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const signal = abortOnSignal();
  signal.addEventListener("abort", () =>
    process.stderr.write("\nStopping after what is in hand …\n"),
  );
  try {
    return await work(signal);
  } catch (error) {
    if (!(error instanceof RebuildStoppedError)) throw error;
    console.error(`turnlog: ${error.message}`);
    return signal.reason instanceof StoppedError
      ? signal.reason.exitCode
      : FAILED;
  }
}

async function rebuildOne(
  builds: Builds,
  names: readonly string[],
  sessionId: string,
  options: RunOptions,
): Promise<number> {
  if (options.plan === true) {
    console.log(
      `One transaction: the rows of session ${JSON.stringify(sessionId)} in ${names.join(", ")} are deleted and folded from its first event. Readers see the old rows until it commits.`,
    );
    return 0;
  }
  const numbers = await builds.rebuildSession(names, sessionId);
  if (options.json === true) printJson({ session: sessionId, builds: numbers });
  else
    console.log(
      `Rebuilt in ${names.map((name, at) => `${name} b${numbers[at]}`).join(", ")}.`,
    );
  return 0;
}

function showPlan(
  plan: Awaited<ReturnType<Builds["plan"]>>,
  options: RunOptions,
): number {
  if (options.json === true) printJson(plan);
  else printPlan(plan);
  if (options.plan === true) return 0;
  console.error("Nothing was done. Go on with --yes.");
  return WRONG_USAGE;
}

function runOptions(options: RunOptions, signal: AbortSignal) {
  return {
    concurrency: options.maxConcurrent,
    waitMs: options.wait * 1_000,
    signal,
  };
}

function printResult({ rebuild, verified, dropped }: RebuildResult): void {
  for (const row of verified) {
    const drifted =
      row.driftedSessions === null || row.driftedSessions === 0
        ? ""
        : `; ${row.driftedSessions} sessions were wrong in the live build, and are right now`;
    console.log(
      `${row.projection} b${row.build} is live: ${row.sampledSessions} sessions folded once more were equal${drifted}.`,
    );
  }
  for (const { projection, build } of dropped)
    console.log(`${projection} b${build}, kept from before, was dropped.`);
  console.log(
    `Rebuild ${rebuild} is done. Back to the builds before it: turnlog rollback; free their disk: turnlog drop`,
  );
}
