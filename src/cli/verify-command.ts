/** `turnlog verify`: holds the live read tables against the fold of the log. */
import { ConfigInvalidError } from "../errors.ts";
import {
  DEFAULT_SAMPLE,
  verifyLiveBuilds,
  type ProjectionVerification,
} from "../verify/verify-projections.ts";
import type { Difference } from "../verify/verify-build.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { formatCount, printable, printJson, Progress } from "./output.ts";

export interface VerifyOptions extends CommonOptions {
  readonly sample?: number;
  readonly all?: boolean;
  readonly session?: string;
}

export async function verifyCommand(
  projection: string | undefined,
  options: VerifyOptions,
): Promise<number> {
  const sessions = sessionsOf(options);
  await using context = await openContext(options);
  if (options.session !== undefined)
    await context.store.session(options.session);
  const progress = new Progress();
  const found = await verifyLiveBuilds(context.db, {
    projections: context.projections,
    projection: projection ?? null,
    sessions,
    onSession: (one) => progress.show(() => `${one.projection}  ${sums(one)}`),
  }).finally(() => progress.clear());
  if (options.json === true) printJson(found);
  else found.forEach(print);
  return found.every(({ difference }) => difference === null) ? 0 : 1;
}

function sessionsOf({
  sample,
  all,
  session,
}: VerifyOptions): number | "all" | readonly string[] {
  const given = [sample, all, session].filter((one) => one !== undefined);
  if (given.length > 1)
    throw new ConfigInvalidError(
      "Give one of --sample, --all and --session, or none.",
    );
  if (session !== undefined) return [session];
  return all === true ? "all" : (sample ?? DEFAULT_SAMPLE);
}

function sums({ sessions, rows, events }: ProjectionVerification): string {
  return `${formatCount(sessions)} sessions, ${formatCount(rows)} rows of ${formatCount(events)} events`;
}

function print(found: ProjectionVerification): void {
  const { projection, version, build, passedOver, difference } = found;
  const outcome = difference === null ? "equal" : "DIFFERENT";
  const left =
    passedOver === 0
      ? ""
      : `, ${formatCount(passedOver)} sessions passed over (deleted, or to be folded anew)`;
  console.log(
    `${projection} (version ${version}, build ${build}): ${sums(found)}: ${outcome}${left}`,
  );
  if (difference !== null)
    for (const [name = "", value = ""] of linesOf(difference))
      console.log(`  ${name.padEnd(9)} ${printable(value)}`);
}

function linesOf(difference: Difference): readonly (readonly string[])[] {
  const session = ["session", difference.sessionId];
  if (difference.kind === "fold")
    return [
      session,
      ["seq", String(difference.seq)],
      ["error", `the fold fails here now: ${difference.errorCode}`],
    ];
  const { table, key, column, live, refolded } = difference;
  const named = Object.entries(key).map(
    ([name, value]) => `${name} = ${value}`,
  );
  return [
    session,
    ["table", table],
    ["key", named.join(", ")],
    ["column", column ?? "the whole row"],
    ["live", valueText(live, column)],
    ["refolded", valueText(refolded, column)],
  ];
}

function valueText(value: string | null, column: string | null): string {
  if (column === null) return value === null ? "no such row" : "is there";
  return value === null ? "null" : JSON.stringify(value);
}
