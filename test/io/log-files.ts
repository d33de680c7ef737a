/** Small session logs as files, made by the tests of import and export. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

export const header = (id: string, more: object = {}): object => ({
  type: "session",
  version: 0,
  id,
  createdAt: 10,
  cwd: "/w",
  delegationDepth: 0,
  ...more,
});

export const turnStart = {
  type: "turn/start",
  seq: 0,
  time: 11,
  data: { turn: 1 },
};

export const stepStart = {
  type: "step/start",
  seq: 1,
  time: 11,
  data: { turn: 1, step: 1 },
};

export const prompt = {
  type: "user/message",
  seq: 2,
  time: 12,
  data: {
    id: "m1",
    role: "user",
    content: [{ type: "text", text: "hi" }],
    source: { kind: "user" },
  },
  surfaceOp: "append",
};

export const run = {
  type: "text-chunks",
  seq0: 3,
  time0: 13,
  data: { turn: 1, step: 1, index: 0, dt: [1, 0], texts: ["a", "b", "c"] },
};

export const turnEnd = (seq: number) => ({
  type: "turn/end",
  seq,
  time: 20,
  data: { turn: 1, reason: { kind: "completed" } },
});

export type LogLine = object | string;

export function textOf(...lines: readonly LogLine[]): string {
  return lines
    .map(
      (line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`,
    )
    .join("");
}

export interface LogFolder {
  /** A path in the folder. */
  readonly path: (name: string) => string;
  /** Writes a log of these lines and returns its path. */
  readonly write: (...lines: readonly LogLine[]) => Promise<string>;
  /** Writes these bytes. */
  readonly writeBytes: (
    bytes: string | Buffer,
    name?: string,
  ) => Promise<string>;
}

/** A temporary folder for the tests of one file. */
export function useLogFolder(): LogFolder {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "turnlog-logs-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const path = (name: string): string => join(folder, name);
  const writeBytes = async (
    bytes: string | Buffer,
    name = `${randomUUID()}.jsonl`,
  ): Promise<string> => {
    await writeFile(path(name), bytes);
    return path(name);
  };
  return {
    path,
    writeBytes,
    write: (...lines) => writeBytes(textOf(...lines)),
  };
}
