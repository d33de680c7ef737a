/**
 * Generated session logs that break no rule: a list of moves, played one after another by a small state machine.
 * Moves that do not apply are skipped, and prefixes of such logs are such logs, so shrinking stays inside the law.
 */

import * as fc from "fast-check";
import { asideMove, playAside, type AsideMove } from "./generated-asides.ts";
import { createLogWriter, type LogWriter } from "./generated-log-writer.ts";
import { inputMove, playInput, type InputMove } from "./generated-messages.ts";
import { playTurn, turnMove, type TurnMove } from "./generated-turns.ts";
import {
  extremeTicks,
  seldom,
  some,
  ticks,
  type Tick,
} from "./generated-values.ts";
import type { LogLike, SessionHeaderLike } from "./reference-log.ts";
import { referenceClosers } from "./reference.ts";

/** What generated logs may contain beyond the ordinary. */
export interface LegalLogOptions {
  /** Whether times lie at both ends of the safe integers too, where differences are no longer exact. */
  readonly extremeTimes?: boolean;
}

/** Longest generated log, in events, if it inherits none. */
const MAX_EVENTS = 150;

/**
 * Logs that the reference opens and finds nothing wrong with: of 0 to 150 events, or a little longer where the
 * inherited part alone is.
 */
export function legalLog({
  extremeTimes = false,
}: LegalLogOptions = {}): fc.Arbitrary<LogLike> {
  return fc
    .record({
      header: headerMove,
      inherited: some(anyMove, 2),
      moves: some(anyMove, 8),
      clock: extremeTimes ? extremeTicks : ticks,
      kept: seldom(fc.nat({ max: MAX_EVENTS })),
    })
    .map(buildLog);
}

/** What may happen in the life of a session. */
type Move =
  | TurnMove
  | { readonly kind: "aside"; readonly aside: AsideMove }
  | { readonly kind: "input"; readonly input: InputMove }
  | CrashMove
  | { readonly kind: "resume" };

/** The end of a process, and the repair when the log is opened again. */
interface CrashMove {
  readonly kind: "crash";
  /** How many of the last events were not durable yet. */
  readonly lost: number;
  /** Whether the process died while a tool ran, if one did. */
  readonly inTool: boolean;
}

/** Facts of a header, and where its session comes from. */
interface HeaderMove {
  readonly id: string;
  readonly cwd: string | null;
  /** A fork copies events; a resumable subagent begins with an empty seed; a spawned one has none. */
  readonly origin: "root" | "fork" | "subagent" | "spawned";
  readonly preset: string | null;
}

interface LogMove {
  readonly header: HeaderMove;
  readonly inherited: readonly Move[];
  readonly moves: readonly Move[];
  readonly clock: readonly Tick[];
  readonly kept: number | null;
}

const CREATED_AT_MS = 1_790_000_000_000;

const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: turnMove },
  {
    weight: 2,
    arbitrary: asideMove.map((aside): Move => ({ kind: "aside", aside })),
  },
  {
    weight: 1,
    arbitrary: inputMove.map((input): Move => ({ kind: "input", input })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("crash"),
      lost: fc.nat(),
      inTool: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Move>({ kind: "resume" }) },
);

const headerMove: fc.Arbitrary<HeaderMove> = fc.record({
  id: fc.uuid({ version: 4 }),
  cwd: fc.option(fc.constantFrom("/srv/shop", "/srv/店 %_'", "/")),
  origin: fc.oneof(
    { weight: 3, arbitrary: fc.constant("root" as const) },
    {
      weight: 2,
      arbitrary: fc.constantFrom("fork", "fork", "subagent", "spawned"),
    },
  ),
  preset: seldom(fc.constantFrom("coder", "")),
});

function buildLog(log: LogMove): LogLike {
  const { origin } = log.header;
  const writer = createLogWriter(log.clock, CREATED_AT_MS);
  const repairs: Repair[] = [];
  if (origin === "fork") playMoves(writer, log.inherited, repairs);
  const seedLength = writer.events.length;
  if (origin === "fork" || origin === "subagent") markSeed(writer);
  const least = writer.events.length;
  playMoves(writer, log.moves, repairs);
  const wanted = Math.max(Math.min(log.kept ?? MAX_EVENTS, MAX_EVENTS), least);
  const split = repairs.find(({ from, to }) => from < wanted && wanted < to);
  return {
    header: headerOf(log.header, seedLength),
    events: writer.events.slice(0, split?.from ?? wanted),
  };
}

/** Lengths of the log before a repair and after its seed mark; to end in between would be no log of a live session. */
interface Repair {
  readonly from: number;
  readonly to: number;
}

function playMoves(
  writer: LogWriter,
  moves: readonly Move[],
  repairs: Repair[],
): void {
  let before = writer.events.length;
  for (const move of moves) {
    const length = writer.events.length;
    playMove(writer, move, before, repairs);
    before = move.kind === "crash" ? writer.events.length : length;
  }
}

function playMove(
  writer: LogWriter,
  move: Move,
  previous: number,
  repairs: Repair[],
): void {
  switch (move.kind) {
    case "turn":
      return playTurn(writer, move);
    case "aside":
      return playAside(writer, move.aside);
    case "input":
      return playInput(writer, move.input);
    case "resume":
      return markSeed(writer);
    case "crash": {
      const from = durableLength(writer, move, previous);
      writer.rewind(from);
      repair(writer);
      repairs.push({ from, to: writer.events.length });
      return;
    }
  }
}

/** How many events a crash leaves; only what the previous move wrote can get lost. */
function durableLength(
  { events }: LogWriter,
  { lost, inTool }: CrashMove,
  previous: number,
): number {
  const call = events.findLastIndex(({ type }) => type === "tool/call");
  if (inTool && call >= previous) return call + 1;
  return events.length - (lost % (events.length - previous + 1));
}

/** Opens the log again: closes what a crash left open and marks the seed. */
function repair(writer: LogWriter): void {
  const { turn, step } = writer.state;
  const group = `${turn}/${step}`;
  for (const event of referenceClosers(writer.events)) {
    const { seq } = event;
    const node = { seq, price: 0, group, result: null };
    writer.appendRepair(event, event.type === "tool/result" ? node : null);
  }
  writer.update({ turn: null, step: null });
  markSeed(writer);
}

function markSeed(writer: LogWriter): void {
  if (writer.events.at(-1)?.type !== "session/end-seed")
    writer.append("session/end-seed", {});
  writer.update({ resumed: writer.state.route !== null });
}

function headerOf(header: HeaderMove, seedLength: number): SessionHeaderLike {
  const { id, cwd, origin, preset } = header;
  const isSubagent = origin === "subagent" || origin === "spawned";
  return {
    version: 0,
    id,
    createdAt: CREATED_AT_MS,
    ...(cwd === null ? {} : { cwd }),
    ...(origin === "root" ? {} : { parentSession: `parent-of-${id}` }),
    ...(origin === "fork" ? { seedLength } : {}),
    ...(isSubagent ? { origin: "subagent" as const } : {}),
    delegationDepth: isSubagent ? 1 : 0,
    ...(preset === null ? {} : { agentPreset: preset }),
  };
}
