/** The header of a converted session. */
import { posix, win32 } from "node:path";
import type { SessionHeader } from "../../events/header.ts";

export interface HeaderFacts {
  readonly id: string;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly cwd: string | null;
  readonly parentSession: string | null;
  /** Null when nothing is inherited. */
  readonly seedLength: number | null;
  /** How deep below a session that nobody delegated; null for none. */
  readonly delegationDepth?: number | null;
}

export function headerOf(facts: HeaderFacts): SessionHeader {
  const { id, createdAt, cwd, parentSession, seedLength } = facts;
  const { delegationDepth = null } = facts;
  return {
    version: 0,
    id,
    createdAt: Math.max(createdAt, 0),
    ...(cwd !== null && isAbsolute(cwd) ? { cwd } : {}),
    ...(parentSession === null ? {} : { parentSession }),
    ...(seedLength === null ? {} : { seedLength }),
    ...(delegationDepth === null ? {} : { origin: "subagent" }),
    delegationDepth: delegationDepth ?? 0,
  };
}

/** Absolute on any platform: a transcript may come from another one. */
function isAbsolute(path: string): boolean {
  return posix.isAbsolute(path) || win32.isAbsolute(path);
}
