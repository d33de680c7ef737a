/**
 * The folder layout of the DeepSeek Harness: `<root>/<project>/<session>/session.jsonl`, or `session.jsonl.zstd` when it
 * is compressed. The project's name is made of the working directory, the session's of its id.
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { SessionHeader } from "../events/header.ts";
import { LogFileError } from "./log-file-error.ts";

/** Name of a log in its session's folder. */
export type LogName = "session.jsonl" | "session.jsonl.zstd";

const LOG_NAMES: readonly string[] = [
  "session.jsonl",
  "session.jsonl.zstd",
] satisfies LogName[];

/** Longest readable part of a project's name. */
const MAX_SLUG = 251;
/** Folders between a root and its logs. */
const DEPTH = 2;

/** Where the log of a session stands below a root. */
export function logPath(
  root: string,
  header: SessionHeader,
  name: LogName,
): string {
  return join(root, projectFolder(header.cwd), sessionFolder(header.id), name);
}

export interface FoundLogs {
  /** Paths, sorted. */
  readonly logs: readonly string[];
  /** Logs under other names or at other places, which the layout does not have. */
  readonly strays: readonly string[];
  /** Logs that can't be told apart: several for one session. */
  readonly doubles: ReadonlyMap<string, string>;
}

/**
 * Finds the logs below a root, a project's folder, or a session's. Symbolic links are not followed.
 * @throws LogFileError when the folder can't be read
 */
export async function findLogs(folder: string): Promise<FoundLogs> {
  const found: string[] = [];
  const strays: string[] = [];
  await walk(resolve(folder), DEPTH, found, strays);
  const logs = found.toSorted();
  const first = new Map<string, string>();
  const doubles = new Map<string, string>();
  for (const log of logs) {
    const session = basename(dirname(log));
    const other = first.get(session);
    if (other === undefined) first.set(session, log);
    else {
      doubles.set(log, other);
      doubles.set(other, doubles.get(other) ?? log);
    }
  }
  return { logs, strays: strays.toSorted(), doubles };
}

/** @throws LogFileError when a log does not stand where its header says */
export function requirePlace(log: string, header: SessionHeader): void {
  const session = basename(dirname(log));
  const project = basename(dirname(dirname(log)));
  const [isSession, isProject] = [
    session === sessionFolder(header.id),
    project === projectFolder(header.cwd),
  ];
  if (isSession && isProject) return;
  const place = join(projectFolder(header.cwd), sessionFolder(header.id));
  throw new LogFileError(
    "WRONG_FOLDER",
    1,
    `by its header the log belongs in ${place}; name the file itself to import it all the same`,
  );
}

/** @throws LogFileError */
async function walk(
  folder: string,
  depth: number,
  logs: string[],
  strays: string[],
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (cause: unknown) => {
      throw new LogFileError(
        "FILE_UNREADABLE",
        null,
        `the folder ${folder} can't be read`,
        { cause },
      );
    },
  );
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth > 0)
      await walk(path, depth - 1, logs, strays);
    else if (entry.isFile() && LOG_NAMES.includes(entry.name)) logs.push(path);
    else if (entry.isFile() && /\.jsonl(\.zstd?)?$/.test(entry.name))
      strays.push(path);
  }
}

/** Runs of separators become one dash; the readable part is cut, so that two directories may share a name. */
function projectFolder(cwd: string | undefined): string {
  if (cwd === undefined) return "_no-cwd";
  const slug = escaped(cwd.replaceAll(/[/\\:]+/g, "-")).replace(/^-+/, "");
  return `--${(slug === "" ? "root" : slug).slice(0, MAX_SLUG)}--`;
}

/** Different ids have different names. */
function sessionFolder(id: string): string {
  return id === "." || id === ".." ? id.replaceAll(".", "~002E") : escaped(id);
}

/** Everything but safe characters as a tilde and the four hexadecimal digits of each UTF-16 unit. */
function escaped(text: string): string {
  return text.replaceAll(
    /[^A-Za-z0-9._-]/g,
    (unit) =>
      `~${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
}
