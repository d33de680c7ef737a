/** The statement that stores the chains of several sessions at once. */
import type { Queryable } from "../db/connect.ts";
import { RULES_VERSION } from "../events/rules/rules.ts";
import type { AppendAnswer } from "./append-call.ts";
import type { Chain, ChainedAppend } from "./chain.ts";

/** Of a chain: stored as a whole, or what became of its first append. */
export interface ChainAnswer extends Omit<AppendAnswer, "outcome"> {
  readonly outcome:
    | AppendAnswer["outcome"]
    /** The session is locked by somebody else. */
    | "busy"
    /** A later append of the chain is stored already. */
    | "repeated";
}

interface AnswerRow extends ChainAnswer {
  /** From 1. */
  readonly chain: number;
}

const APPEND_MANY = {
  name: "turnlog_append_many_v1",
  text: `
    select chain, outcome, first_seq, next_seq, epoch
    from turnlog.append_many_v1(
      $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
      $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`,
};

/** Arguments of a row that `encodeAppend` makes. */
const ROW_COLUMNS = 10;

/**
 * Sends chains of different sessions once, and returns their answers in the same order. Locks the session rows for the
 * length of the statement, and waits for none of them but those of sessions that somebody else is just creating.
 */
export async function callAppendMany(
  db: Queryable,
  chains: readonly Chain[],
  timeoutMs: number,
): Promise<readonly ChainAnswer[]> {
  const appends = chains.flatMap(({ appends: chained }) => chained);
  const values = [
    ...chainColumns(chains),
    ...appendColumns(chains, appends),
    ...rowColumns(appends),
  ];
  const rows = await db.rows<AnswerRow>({ ...APPEND_MANY, timeoutMs }, values);
  const answers = new Map(rows.map((row) => [row.chain, row]));
  return chains.map((_, at) => {
    const answer = answers.get(at + 1);
    if (answer === undefined)
      throw new Error("append_many_v1 left a chain without an answer");
    return answer;
  });
}

function chainColumns(chains: readonly Chain[]): readonly unknown[] {
  const none = arrayOf(chains.map(() => "null"));
  return [
    chains.map(({ sessionId }) => sessionId),
    arrayOf(chains.map(({ incarnation }) => incarnation)),
    arrayOf(chains.map(({ firstSeq }) => firstSeq)),
    linesOf(chains.map(({ state }) => JSON.stringify(state))),
    linesOf(chains.map(({ creation }) => creation?.headerText ?? "")),
    chains.map(({ creation }) => creation?.tenant ?? null),
    none,
    none,
    RULES_VERSION,
  ];
}

function appendColumns(
  chains: readonly Chain[],
  appends: readonly ChainedAppend[],
): readonly unknown[] {
  return [
    arrayOf(
      chains.flatMap(({ appends: chained }, at) => chained.map(() => at + 1)),
    ),
    arrayOf(appends.map(({ pending }) => pending.request.appendId)),
    arrayOf(appends.map(({ batch }) => batch.eventCount)),
    arrayOf(appends.map(({ batch }) => batch.factsEnd)),
    Buffer.concat(appends.map(({ batch }) => batch.digest)),
  ];
}

function rowColumns(appends: readonly ChainedAppend[]): readonly unknown[] {
  const numbers = appends.flatMap(({ batch }, at) =>
    Array.from({ length: batch.rowCount }, () => at + 1),
  );
  const columns = Array.from({ length: ROW_COLUMNS }, (_, column) =>
    linesOf(appends.map(({ batch }) => batch.columns[column] ?? "")),
  );
  return [arrayOf(numbers), ...columns];
}

/** An array as Postgres reads it, of elements that need no quotes. */
function arrayOf(elements: readonly (string | number)[]): string {
  return `{${elements.join()}}`;
}

function linesOf(lines: readonly string[]): string {
  return lines.join("\n");
}
