#!/usr/bin/env node
/** The command line. Exit codes: 0 done, 1 failed, 2 wrong usage or settings. */
import {
  Command,
  CommanderError,
  InvalidArgumentError,
  Option,
} from "commander";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../db/package-root.ts";
import {
  ConfigInvalidError,
  EventInvalidError,
  TurnlogError,
} from "../errors.ts";
import {
  buildsCommand,
  cancelCommand,
  dropCommand,
  rollbackCommand,
} from "./builds-command.ts";
import { checkCommand } from "./check-command.ts";
import { demoCommand } from "./demo-command.ts";
import { exportCommand } from "./export-command.ts";
import { FOREIGN_FORMATS } from "../io/foreign/convert.ts";
import { importCommand } from "./import-command.ts";
import { migrateCommand } from "./migrate-command.ts";
import {
  parkedListCommand,
  parkedRetryCommand,
  parkedShowCommand,
  parkedSkipCommand,
} from "./parked-command.ts";
import {
  eventsCommand,
  messagesCommand,
  sessionsCommand,
  usageCommand,
} from "./read-commands.ts";
import { deployCommand, rebuildCommand } from "./rebuild-command.ts";
import { StoppedError } from "../runtime/signals.ts";
import { startCommand } from "./start-command.ts";
import { statusCommand } from "./status-command.ts";
import { verifyCommand } from "./verify-command.ts";

const FAILED = 1;
const WRONG_USAGE = 2;

async function main(): Promise<void> {
  // A reader that has seen enough (`| head`) is no failure: what else is printed goes nowhere.
  process.stdout.on("error", (error) => {
    if ("code" in error && error.code === "EPIPE") return;
    console.error(`turnlog: the output can't be written: ${error.message}`);
    process.exit(FAILED);
  });
  try {
    await program().parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function program(): Command {
  const turnlog = new Command("turnlog")
    .description(
      "Append-only event store for AI agent sessions on Postgres, with read tables that follow it.",
    )
    .version(versionOfPackage())
    .showHelpAfterError("(see --help)")
    .exitOverride();
  const command = (
    usage: string,
    description: string,
    parent: Command = turnlog,
  ): Command =>
    parent
      .command(usage)
      .description(description)
      .addOption(
        new Option(
          "--database-url <url>",
          "your own Postgres (TURNLOG_DATABASE_URL); default: the embedded one",
        ),
      )
      .option("--json", "print JSON");

  command("start", "run relay and projector until stopped")
    .option(
      "--metrics-port <port>",
      "serve /metrics, /healthz and /readyz (TURNLOG_METRICS_PORT); 0: any free port",
      portNumber,
    )
    .action(done(startCommand));
  command(
    "demo",
    "import the example sessions and show what becomes of them",
  ).action(done(demoCommand));
  command("migrate", "bring the database's schema up to date")
    .option("--dry-run", "print the SQL instead of running it")
    .action(done(migrateCommand));
  command(
    "import",
    "append session logs; what is stored already is compared and not repeated",
  )
    .argument(
      "<paths...>",
      "JSONL logs, plain or compressed with zstd, or folders of sessions",
    )
    .option("--dry-run", "check and compare, and store nothing")
    .option(
      "--allow-findings",
      "import logs whose events break rules among each other as they are",
    )
    .addOption(
      new Option(
        "--format <format>",
        "transcripts of another agent (docs/foreign-logs.md)",
      ).choices(FOREIGN_FORMATS),
    )
    .option("--concurrency <files>", "files at a time", positiveNumber, 4)
    .action(done(importCommand));
  command("export", "write sessions as JSONL logs, to stdout by default")
    .argument("[sessions...]", "session ids")
    .option("--all", "every stored session")
    .option("--file <path>", "into this file")
    .option(
      "--folder <path>",
      "into <path>/<project>/<session>/session.jsonl, one for each session",
    )
    .option("--zstd", "compressed")
    .option("--unpacked", "each streamed delta on a line of its own")
    .option("--force", "overwrite files")
    .action(done(exportCommand));
  command("sessions", "list sessions, those with the latest prompt first")
    .addOption(limit(50))
    .action(done(sessionsCommand));
  command("events", "print a session's log")
    .argument("<session>", "session id")
    .option("--from <seq>", "first seq", wholeNumber, 0)
    .option("--limit <rows>", "events at most; default all", wholeNumber)
    .action(done(eventsCommand));
  command("messages", "print a session's messages as the model sees them")
    .argument("<session>", "session id")
    .option("--transcript", "as a person saw them, replaced messages included")
    .addOption(limit(1_000))
    .action(done(messagesCommand));
  command("usage", "print token sums by session and model")
    .argument("[session]", "session id")
    .action(done(usageCommand));
  command("check", "check a stored log or a file by every rule")
    .argument("<session-or-file>", "session id, or path of a log file")
    .option(
      "--fix-state",
      "replace the state beside a stored log where it is wrong",
    )
    .action(done(checkCommand));
  command(
    "status",
    "print where appends stand on their way into the read tables, and what is wrong",
  )
    .option(
      "--watch [seconds]",
      "again and again until stopped, every 2 seconds by default",
      positiveNumber,
    )
    .action(done(statusCommand));
  command(
    "verify",
    "fold sessions anew in memory and compare the read tables with that; exit code 1 at a difference",
  )
    .argument("[projection]", "name of one projection; default all")
    .option(
      "--sample <sessions>",
      "so many, at random (default 100)",
      positiveNumber,
    )
    .option("--all", "every session")
    .option("--session <id>", "this one")
    .action(done(verifyCommand));
  const parked = turnlog
    .command("parked")
    .description("sessions that a projection could not fold")
    .showHelpAfterError("(see --help)");
  command("list", "list them, parked or waiting for another try", parked)
    .option("--projection <name>", "of this projection only")
    .addOption(limit(100))
    .action(done(parkedListCommand));
  command("show", "what is known of one", parked)
    .argument("<projection>", "name of the projection")
    .argument("<session>", "session id")
    .action(done(parkedShowCommand));
  command("retry", "try again at once, in order", parked)
    .argument("<projection>", "name of the projection")
    .argument("[session]", "session id")
    .option("--all", "every session that the projection failed at")
    .action(done(parkedRetryCommand));
  command(
    "skip",
    "pass over the event it failed at, for good, and go on",
    parked,
  )
    .argument("<projection>", "name of the projection")
    .argument("<session>", "session id")
    .option("--yes", "do it; without it only said what would be done")
    .action(done(parkedSkipCommand));
  buildCommands(command);
  return turnlog;
}

/** Commands for operators of the read tables. */
function buildCommands(
  command: (usage: string, description: string) => Command,
): void {
  const wait = () =>
    new Option(
      "--wait <seconds>",
      "how long to wait for old transactions, and for locks, before the swap",
    )
      .argParser(positiveNumber)
      .default(60);
  const running = (usage: string, description: string): Command =>
    command(usage, description)
      .option("--plan", "print what would be done, and do nothing")
      .option("--yes", "do it; without it only the plan is printed")
      .option(
        "--max-concurrent <n>",
        "portions of the log at a time; more processes of the same command share the work",
        positiveNumber,
        2,
      )
      .addOption(wait());
  const named = (usage: string, description: string): Command =>
    command(usage, description)
      .argument("[projections...]", "names, as in turnlog builds")
      .option("--all", "every projection");

  running(
    "rebuild",
    "build projections anew beside the live builds, verify, and swap; run again to go on with one that stopped",
  )
    .argument("[projections...]", "names, as in turnlog builds")
    .option("--all", "every projection")
    .option("--session <id>", "only this session, in the live builds")
    .action(done(rebuildCommand));
  running(
    "deploy",
    "build what has another version in this release, beside the workers of the old one, and swap all at once",
  )
    .option(
      "--hand-over <seconds>",
      "after the swap, feed the new builds until workers of this release run, at most so long",
      wholeNumber,
      0,
    )
    .action(done(deployCommand));
  command("builds", "list builds, and rebuilds that are under way")
    .option("--all", "those too that were dropped or cancelled")
    .action(done(buildsCommand));
  named("rollback", "point the views back at the builds that were live before")
    .addOption(wait())
    .action(done(rollbackCommand));
  named("drop", "drop the builds that are kept for a rollback")
    .option("--yes", "do it; without it only said what would be dropped")
    .action(done(dropCommand));
  command("cancel", "end a rebuild that is under way, and drop its builds")
    .argument(
      "[rebuild]",
      "its number; default: the only one under way",
      positiveNumber,
    )
    .action(done(cancelCommand));
}

/** Makes the number that a command resolves to the exit code. */
function done<Args extends unknown[]>(
  run: (...args: Args) => Promise<number>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    process.exitCode = await run(...args);
  };
}

function limit(rows: number): Option {
  return new Option("--limit <rows>", "rows at most")
    .argParser(wholeNumber)
    .default(rows);
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new InvalidArgumentError("It must be a whole number from 0.");
  return number;
}

function portNumber(text: string): number {
  const number = wholeNumber(text);
  if (number > 65_535)
    throw new InvalidArgumentError("It must be a port, from 0 to 65535.");
  return number;
}

function positiveNumber(text: string): number {
  const number = wholeNumber(text);
  if (number === 0)
    throw new InvalidArgumentError("It must be a whole number from 1.");
  return number;
}

/** Prints what went wrong on one line, what to do included. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? 0 : WRONG_USAGE;
  if (error instanceof StoppedError) return error.exitCode;
  if (!(error instanceof TurnlogError)) {
    console.error(error);
    return FAILED;
  }
  console.error(`turnlog: ${error.message}`);
  const isWrongUsage =
    error instanceof ConfigInvalidError ||
    (error instanceof EventInvalidError && error.index === null);
  return isWrongUsage ? WRONG_USAGE : FAILED;
}

function versionOfPackage(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(join(packageRoot(), "package.json"), "utf8"),
  );
  return manifest.version;
}

await main();
