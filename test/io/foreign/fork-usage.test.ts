import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import type { Db } from "../../../src/db/connect.ts";
import {
  convertForeignLog,
  type ConvertedLog,
} from "../../../src/io/foreign/convert.ts";
import type { SessionStore } from "../../../src/session-store.ts";
import { useTestDatabase } from "../../support/database.ts";
import { corpusMissing, foreignFiles } from "../../support/logs.ts";
import { catchUp } from "../../support/pipeline.ts";
import { context, meta, tokens } from "./codex-lines.ts";
import { convert, useTranscripts } from "./transcripts.ts";

const database = useTestDatabase();
useTranscripts();

/** Appends a converted log as an import does, in batches. */
async function store(
  to: SessionStore,
  { header, events }: ConvertedLog,
): Promise<void> {
  const { version: _version, id, ...given } = header;
  const batch = 200;
  for (let seq = 0; seq < events.length; seq += batch)
    await to.append(
      id,
      events.slice(seq, seq + batch).map(({ event }) => event),
      { expectedSeq: seq, header: given },
    );
}

/** What an analyst reads of these sessions: own and inherited tokens. */
async function statsOf(
  db: Db,
  ids: readonly string[],
): Promise<object | undefined> {
  const [row] = await db.rows<object>(
    {
      text: `select sum(input_tokens)::int8 as input, sum(cache_read_tokens)::int8 as cache_read,
                    sum(output_tokens)::int8 as output, sum(total_tokens)::int8 as total,
                    sum(inherited_total_tokens)::int8 as inherited
             from turnlog_read.token_stats
             where session_id = any($1)`,
    },
    [ids],
  );
  return row;
}

describe("a fork pair of Codex in the read tables", () => {
  it("counts each request once, at the session that made it (B054, G5 #62)", async () => {
    const { db, store: to } = database();
    const reports = [
      tokens(1, [1_000, 600, 50, 10], [1_000, 600, 50, 10]),
      tokens(2, [3_000, 2_000, 90, 15], [2_000, 1_400, 40, 5]),
    ];
    const own = tokens(500, [3_500, 2_400, 100, 15], [500, 400, 10, 0]);
    await store(
      to,
      await convert("codex", [meta("trunk"), context(0), ...reports]),
    );
    await store(
      to,
      await convert("codex", [
        meta("leaf", { forked_from_id: "trunk" }),
        context(0),
        ...reports,
        own,
      ]),
    );
    await catchUp(db);

    expect(await statsOf(db, ["trunk"])).toMatchObject({
      input: 1_000,
      cache_read: 2_000,
      output: 90,
      inherited: 0,
    });
    expect(await statsOf(db, ["leaf"])).toMatchObject({
      input: 100,
      cache_read: 400,
      output: 10,
      inherited: 3_090,
    });
    expect(await statsOf(db, ["trunk", "leaf"])).toMatchObject({
      total: 3_600,
    });
  });

  it("of the recorded corpus has the totals of its counters", async ({
    skip,
  }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    const { db, store: to } = database();
    const files = foreignFiles("codex-fork").toSorted((a, b) =>
      basename(a) > basename(b) ? -1 : 1,
    );
    expect(files).toHaveLength(2);
    for (const file of files)
      await store(to, await convertForeignLog("codex", file));
    await catchUp(db);

    expect(await statsOf(db, ["parent-session"])).toEqual({
      input: 1_151_858,
      cache_read: 23_737_856,
      output: 102_678,
      total: 24_992_392,
      inherited: 0,
    });
    expect(await statsOf(db, ["child-session"])).toEqual({
      input: 156_480,
      cache_read: 1_646_080,
      output: 6_959,
      total: 1_809_519,
      inherited: 24_992_392,
    });
    expect(
      await statsOf(db, ["parent-session", "child-session"]),
    ).toMatchObject({
      total: 26_801_911,
    });
  });
});
