/** Session logs to try things on: the examples, and the recorded corpus where it is there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/db/package-root.ts";

const EXAMPLES = join(packageRoot(), "examples", "sessions");
const CORPUS = join(packageRoot(), "..", "shared", "corpus");

/** Why the corpus tests are skipped; null when the corpus is there. */
export const corpusMissing = existsSync(CORPUS)
  ? null
  : `there is no corpus at ${CORPUS}`;

export function exampleFiles(): string[] {
  return readdirSync(EXAMPLES)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(EXAMPLES, name));
}

/** Recorded files of a class of the corpus' index: A opens as it is, L is converted, M refused, H empty. */
export function corpusFiles(kind: "A" | "L" | "M" | "H" | "R"): string[] {
  if (corpusMissing !== null) return [];
  return readFileSync(join(CORPUS, "INDEX.md"), "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter(
      (cells) =>
        cells[1]?.endsWith(".jsonl") === true &&
        cells[5]?.startsWith(`${kind} `) === true,
    )
    .map((cells) => join(CORPUS, "dsh", cells[1] ?? ""));
}

/** Transcripts of other agents in our vocabulary. */
export function convertedFiles(): string[] {
  if (corpusMissing !== null) return [];
  return readdirSync(join(CORPUS, "converted")).map((name) =>
    join(CORPUS, "converted", name),
  );
}

/** Transcripts in the formats of other agents: `claude`, `codex-fork` or `pi`. */
export function foreignFiles(kind: "claude" | "codex-fork" | "pi"): string[] {
  if (corpusMissing !== null) return [];
  const folder = join(CORPUS, "foreign", kind);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder, name));
}
