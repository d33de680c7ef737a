/** The header of a session: immutable facts about it, kept beside the log. */
import { posix, win32 } from "node:path";
import { FormatUnsupportedError } from "../errors.ts";
import { isJsonObject, isSeq, type JsonValue } from "./json.ts";
import { RuleViolation } from "./rule-violation.ts";

/** Format of logs that this version writes and reads. */
export const FORMAT_VERSION = 0;

/** Keys stand in this order in its JSON text. */
export interface SessionHeader {
  /** Format of the log. */
  readonly version: typeof FORMAT_VERSION;
  /** Equals the session id. */
  readonly id: string;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Absolute path of the working directory. */
  readonly cwd?: string;
  /** Session this one was forked from or delegated by; it need not exist. */
  readonly parentSession?: string;
  /** How many leading events are inherited from the parent. */
  readonly seedLength?: number;
  readonly origin?: "subagent";
  /** 0 for a session that nobody delegated. */
  readonly delegationDepth: number;
  readonly agentPreset?: string;
}

/** What a caller may give when the first append creates the session; the store fills in the rest. */
export type NewSessionHeader = Partial<Omit<SessionHeader, "version" | "id">>;

/**
 * Reads a header, dropping keys it does not know.
 * @throws FormatUnsupportedError for another format version.
 * @throws RuleViolation (rule `header`) when it is no header.
 */
export function parseHeader(value: JsonValue): SessionHeader {
  if (!isJsonObject(value)) return fail("", "is not a session header");
  checkVersion(value["version"]);
  for (const retired of ["sandboxMode", "approvalPolicy"]) {
    if (Object.hasOwn(value, retired)) fail(retired, "is a retired header key");
  }
  const {
    id,
    createdAt,
    cwd,
    parentSession,
    seedLength,
    origin,
    delegationDepth,
    agentPreset,
  } = value;
  if (typeof id !== "string" || id === "")
    return fail("id", "must be a non-empty string");
  if (!isSeq(createdAt))
    return fail("createdAt", "must be epoch ms, a non-negative integer");
  if (!isSeq(delegationDepth))
    return fail("delegationDepth", "must be a non-negative integer");
  if (seedLength !== undefined && !isSeq(seedLength))
    return fail("seedLength", "must be a non-negative integer");
  if (origin !== undefined && origin !== "subagent")
    return fail("origin", 'must be "subagent" or absent');
  if (cwd !== undefined && !isAbsolutePath(cwd))
    return fail("cwd", "must be an absolute path");
  if (parentSession !== undefined && typeof parentSession !== "string")
    return fail("parentSession", "must be a string");
  if (agentPreset !== undefined && typeof agentPreset !== "string")
    return fail("agentPreset", "must be a string");
  return {
    version: FORMAT_VERSION,
    id,
    createdAt,
    ...(cwd === undefined ? {} : { cwd }),
    ...(parentSession === undefined ? {} : { parentSession }),
    ...(seedLength === undefined ? {} : { seedLength }),
    ...(origin === undefined ? {} : { origin }),
    delegationDepth,
    ...(agentPreset === undefined ? {} : { agentPreset }),
  };
}

/**
 * Version is judged before anything else, so that a newer log is never called broken.
 * @throws FormatUnsupportedError, or RuleViolation when it is no number
 */
export function checkVersion(version: JsonValue | undefined): void {
  if (typeof version !== "number") fail("version", "must be a number");
  else if (version > FORMAT_VERSION)
    throw new FormatUnsupportedError(
      `The log has format version ${version}, this version reads ${FORMAT_VERSION}. Upgrade turnlog to read it.`,
    );
  else if (version !== FORMAT_VERSION)
    throw new FormatUnsupportedError(
      `The log has format version ${version}, which no version of turnlog reads; there is no upgrade path.`,
    );
}

/** Absolute on any platform: a log may come from another one. */
function isAbsolutePath(value: JsonValue): value is string {
  return (
    typeof value === "string" &&
    (posix.isAbsolute(value) || win32.isAbsolute(value))
  );
}

function fail(path: string, reason: string): never {
  throw new RuleViolation("header", path, reason);
}
