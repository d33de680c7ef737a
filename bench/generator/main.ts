/** Writes generated session logs as JSONL files, for `turnlog import`. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { batchesOf } from "./batches.ts";
import { logLines } from "./log-lines.ts";
import { generateSession, type GeneratedSession } from "./session.ts";
import { generateSessions } from "./sessions.ts";

/** Lines that go to the file in one write. */
const LINES_A_WRITE = 1_000;

interface Options {
  readonly events: number;
  readonly seed: number;
  readonly packed?: true;
  readonly out?: string;
  readonly folder?: string;
}

const program = new Command("bench:generate")
  .description("Writes session logs in the shape of real ones.")
  .option(
    "--events <n>",
    "how many events, in all files together",
    countOf,
    87_000,
  )
  .option(
    "--seed <n>",
    "the same seed gives the same logs, byte for byte",
    countOf,
    1,
  )
  .option("--packed", "write runs of deltas as one line each")
  .addOption(
    new Option("--out <file>", "one session, in this file").conflicts("folder"),
  )
  .addOption(
    new Option("--folder <folder>", "many sessions of all sizes, a file each"),
  )
  .action(write);
await program.parseAsync();

async function write(options: Options): Promise<void> {
  const { events, seed, out, folder, packed = false } = options;
  if (out !== undefined)
    await writeFile(out, generateSession({ seed, events }), packed);
  else if (folder !== undefined) {
    await mkdir(folder, { recursive: true });
    for (const session of generateSessions({ seed, events }))
      await writeFile(
        join(folder, `${session.header.id}.jsonl`),
        session,
        packed,
      );
  } else program.error("error: give --out <file> or --folder <folder>");
}

/** Never replaces a file. */
async function writeFile(
  file: string,
  session: GeneratedSession,
  packed: boolean,
): Promise<void> {
  const out = createWriteStream(file, { flags: "wx" });
  await once(out, "open").catch((error: unknown) => {
    program.error(`error: ${String(error)}`);
  });
  for (const lines of batchesOf(logLines(session, { packed }), LINES_A_WRITE))
    if (!out.write(lines.map((line) => `${line}\n`).join("")))
      await once(out, "drain");
  out.end();
  await once(out, "close");
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 0)
    throw new InvalidArgumentError("It must be a whole number from 0.");
  return count;
}
