/** Projections of the user's own, from `turnlog.config.js`, `.mjs` or `.ts` in the working directory. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigInvalidError } from "../errors.ts";
import { builtInProjections } from "../projections/registry.ts";
import type { Projection } from "../projector/projection.ts";

/** What such a file exports as its default. */
export interface TurnlogConfig {
  /** Made by `defineProjection`; beside the built-in ones. */
  readonly projections: readonly Projection[];
}

const FILES = ["turnlog.config.js", "turnlog.config.mjs", "turnlog.config.ts"];
/** Views of the store itself, and names that later versions of it may take. */
const RESERVED_VIEWS: readonly string[] = [
  "events",
  "messages",
  "parked",
  "projection_status",
  "session_totals",
  "sessions",
  "titles",
  "token_stats",
  "tool_calls",
  "turns",
  "usage",
  "usage_by_day",
  "usage_by_model",
];

/**
 * The built-in projections and those of the config file, if there is one.
 * @param file its path; null to look for it in the working directory
 * @throws ConfigInvalidError
 */
export async function loadProjections(
  file: string | null,
): Promise<readonly Projection[]> {
  const path = file === null ? findFile(process.cwd()) : resolve(file);
  if (path === null) return builtInProjections;
  const module: unknown = await importFile(path);
  const own = projectionsOf(module);
  if (own === null)
    throw new ConfigInvalidError(
      `${path} must export { projections: [ … ] } as its default, each made by defineProjection.`,
    );
  return combine(path, own);
}

function findFile(folder: string): string | null {
  const found = FILES.map((name) => join(folder, name)).filter(existsSync);
  if (found.length > 1)
    throw new ConfigInvalidError(
      `There are several config files: ${found.join(", ")}. Keep one, or name it in TURNLOG_CONFIG.`,
    );
  return found[0] ?? null;
}

async function importFile(path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const isForeign =
      error instanceof Error &&
      "code" in error &&
      error.code === "ERR_UNKNOWN_FILE_EXTENSION";
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigInvalidError(
      isForeign
        ? `${path} can't be loaded: this Node.js runs no TypeScript. Use turnlog.config.mjs, or Node.js 22.18 or newer.`
        : `${path} can't be loaded: ${reason}`,
      { cause: error },
    );
  }
}

function projectionsOf(module: unknown): readonly Projection[] | null {
  const config = memberOf(module, "default");
  const projections = memberOf(config, "projections");
  return Array.isArray(projections) && projections.every(isProjection)
    ? projections
    : null;
}

/** The package of the config file may be another copy of this one, so it is looked at and not compared. */
function isProjection(value: unknown): value is Projection {
  return (
    typeof memberOf(value, "name") === "string" &&
    typeof memberOf(value, "version") === "number" &&
    typeof memberOf(value, "fold") === "function" &&
    Array.isArray(memberOf(value, "tables")) &&
    Array.isArray(memberOf(value, "views"))
  );
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && key in value
    ? Reflect.get(value, key)
    : undefined;
}

function combine(
  path: string,
  own: readonly Projection[],
): readonly Projection[] {
  const names = [...builtInProjections, ...own].map(({ name }) => name);
  const views = [
    ...RESERVED_VIEWS,
    ...own.flatMap((one) => one.views.map(({ name }) => name)),
  ];
  for (const [what, list] of [
    ["projection", names],
    ["view", views],
  ] as const) {
    const twice = list.find((name, at) => list.indexOf(name) < at);
    if (twice !== undefined)
      throw new ConfigInvalidError(
        `${path}: there is a ${what} ${twice} already; give it another name.`,
      );
  }
  return [...builtInProjections, ...own];
}
