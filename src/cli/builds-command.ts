/** `turnlog builds`, `rollback`, `drop` and `cancel`. */
import type { EndedBuild } from "../builds/end-builds.ts";
import type { RebuildProgress } from "../builds/list-builds.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { formatTime, printJson, printTable } from "./output.ts";
import { formatBytes } from "./plan-output.ts";
import { buildsOf, interruptible, namesOf } from "./rebuild-command.ts";

const WRONG_USAGE = 2;

export async function buildsCommand(
  options: CommonOptions & { readonly all?: boolean },
): Promise<number> {
  await using context = await openContext(options);
  const builds = buildsOf(context);
  const list = await builds.list({ all: options.all === true });
  const rebuilds = await builds.progress();
  if (options.json === true) {
    printJson({ builds: list, rebuilds });
    return 0;
  }
  printTable(
    list.map((row) => ({
      projection: row.projection,
      build: `b${row.build}`,
      version: row.version,
      status: row.status,
      created: formatTime(row.createdAt.getTime()),
      live_since: row.liveAt === null ? null : formatTime(row.liveAt.getTime()),
      size: formatBytes(row.bytes),
      fed: row.isFed ? "yes" : "no",
      rebuild: row.rebuild,
    })),
  );
  for (const rebuild of rebuilds) console.log(`\n${rebuildLine(rebuild)}`);
  return 0;
}

function rebuildLine(rebuild: RebuildProgress): string {
  const { events, doneEvents, step, trouble } = rebuild;
  const share = events === 0 ? 100 : Math.floor((doneEvents / events) * 100);
  const line = `rebuild ${rebuild.rebuild}  ${rebuild.builds.map(({ projection, build }) => `${projection} b${build}`).join(", ")}  ${step}  ${share} %`;
  return trouble === null ? line : `${line}\n  ${trouble}`;
}

export async function rollbackCommand(
  given: readonly string[],
  options: CommonOptions & { readonly all?: boolean; readonly wait: number },
): Promise<number> {
  await using context = await openContext(options);
  const builds = buildsOf(context);
  const names = namesOf(builds, given, options.all === true);
  return await interruptible(async (signal) => {
    let said = "";
    const live = await builds.rollback(names, {
      waitMs: options.wait * 1_000,
      signal,
      onWait: (text) => {
        if (text !== said && options.json !== true)
          process.stderr.write(`${text}\n`);
        said = text;
      },
    });
    if (options.json === true) printJson({ live });
    else
      for (const row of live)
        console.log(
          `${row.projection} b${row.build} of version ${row.version} is live again.`,
        );
    return 0;
  });
}

export async function dropCommand(
  given: readonly string[],
  options: CommonOptions & { readonly all?: boolean; readonly yes?: boolean },
): Promise<number> {
  await using context = await openContext(options);
  const builds = buildsOf(context);
  const kept = (await builds.list()).filter(({ status }) => status === "kept");
  const names =
    options.all === true
      ? [...new Set(kept.map(({ projection }) => projection))]
      : namesOf(builds, given, false);
  if (options.yes !== true) {
    const affected = kept.filter(({ projection }) =>
      names.includes(projection),
    );
    if (options.json === true) printJson({ drops: affected });
    else
      for (const row of affected)
        console.log(
          `${row.projection} b${row.build} of version ${row.version}, ${formatBytes(row.bytes)}, would be dropped: then there is no rollback to it.`,
        );
    console.error("Nothing was done. Go on with --yes.");
    return WRONG_USAGE;
  }
  printEnded("dropped", await builds.drop(names), options);
  return 0;
}

export async function cancelCommand(
  rebuild: number | undefined,
  options: CommonOptions,
): Promise<number> {
  await using context = await openContext(options);
  const ended = await buildsOf(context).cancel(rebuild);
  printEnded("cancelled", ended.builds, options);
  return 0;
}

function printEnded(
  what: "cancelled" | "dropped",
  builds: readonly EndedBuild[],
  options: CommonOptions,
): void {
  if (options.json === true) printJson({ [what]: builds });
  else
    for (const { projection, build, version } of builds)
      console.log(`${projection} b${build} of version ${version} is ${what}.`);
}
