/**
 * The folder layout of the DeepSeek Harness: `<root>/<project>/<session>/session.jsonl`, or `session.jsonl.zstd` when it
 * is compressed. The project's name is made of the working directory, the session's of its id.
 */
import type { Dirent } from "node:fs";
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
  /** Logs under other names or at other places, which the layout does not have, and symbolic links. */
  readonly strays: readonly string[];
  /** Folders that can't be read, with the reason. */
  readonly unreadable: ReadonlyMap<string, LogFileError>;
  /** Logs that can't be told apart: several for one session. */
  readonly doubles: ReadonlyMap<string, string>;
}

/**
 * Finds the logs below a root, a project's folder, or a session's. Symbolic links are not followed. Never rejects: a
 * folder that can't be read is told of.
 */
export async function findLogs(folder: string): Promise<FoundLogs> {
  const found = new Walk();
  await found.walk(resolve(folder), DEPTH);
  const logs = found.logs.toSorted();
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
  const { strays, unreadable } = found;
  return { logs, strays: strays.toSorted(), doubles, unreadable };
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

class Walk {
  readonly logs: string[] = [];
  readonly strays: string[] = [];
  readonly unreadable = new Map<string, LogFileError>();

  /** @param depth folders below this one that logs may stand in */
  async walk(folder: string, depth: number): Promise<void> {
    for (const entry of await this.#entries(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await this.walk(path, depth - 1);
      else if (entry.isSymbolicLink()) this.strays.push(path);
      else if (!entry.isFile()) continue;
      else if (LOG_NAMES.includes(entry.name) && depth >= 0)
        this.logs.push(path);
      else if (/\.jsonl(\.zstd?)?$/.test(entry.name)) this.strays.push(path);
    }
  }

  async #entries(folder: string): Promise<readonly Dirent[]> {
    try {
      return await readdir(folder, { withFileTypes: true });
    } catch (cause) {
      const reason = `the folder can't be read (${errorCode(cause)})`;
      this.unreadable.set(
        folder,
        new LogFileError("FILE_UNREADABLE", null, reason, { cause }),
      );
      return [];
    }
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error
    ? String(error.code)
    : "unknown";
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
