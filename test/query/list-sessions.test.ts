import { beforeAll, describe, expect, it } from "vitest";
import type { SessionListRow } from "../../src/query/views.ts";
import { useTestDatabase } from "../support/database.ts";
import { note, prompt } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";

const database = useTestDatabase();
const CREATED_MS = 1_000;

/** Twenty sessions, many of them last turned to at the same time. */
beforeAll(async () => {
  const { db, store } = database();
  for (let at = 0; at < 20; at += 1) {
    const time = CREATED_MS + 10 * (at % 4);
    await store.append(
      `session ${String(at).padStart(2, "0")}`,
      at === 19 ? [note()] : [prompt(`prompt ${at}`, time), note("later")],
      {
        expectedSeq: 0,
        ...(at % 2 === 0 ? { tenant: "even" } : {}),
        header: {
          createdAt: CREATED_MS + at,
          ...(at % 5 === 0 ? { cwd: "/srv/店" } : {}),
          ...(at < 3 ? {} : { parentSession: "session 00" }),
        },
      },
    );
  }
  await catchUp(db);
});

function ids(rows: readonly SessionListRow[]): readonly string[] {
  return rows.map((row) => row.sessionId);
}

describe("the list of sessions", () => {
  it.each([1, 3, 7, 20, 50])(
    "is whole and in order in pages of %i, ties included",
    async (limit) => {
      const { store } = database();
      const all = await store.sessions();
      const paged: SessionListRow[] = [];
      for (
        let page = await store.sessions({ limit });
        page.length > 0;
        page = await store.sessions({ limit, after: page.at(-1) })
      )
        paged.push(...page);

      expect(ids(paged)).toEqual(ids(all));
      expect(new Set(ids(all)).size).toBe(20);
    },
  );

  it("is ordered by the last human prompt, or by creation where that is later", async () => {
    const rows = await database().store.sessions();
    const keys = rows.map((row) => [row.activityMs, row.sessionId] as const);

    expect(keys).toEqual(
      keys.toSorted(([a, idA], [b, idB]) => b - a || (idA < idB ? 1 : -1)),
    );
    expect(rows.map(({ activityMs }) => activityMs)).toEqual(
      rows.map(({ createdMs, lastPromptMs }) =>
        Math.max(createdMs, lastPromptMs ?? createdMs),
      ),
    );
  });

  it("does not move for what is no prompt: opening, titling, answering", async () => {
    const { db, store } = database();
    const before = ids(await store.sessions());
    const last = before.at(-1) ?? "";
    await using writer = await store.open(last);
    const title = { title: "New", messageSeqs: [], source: { kind: "user" } };
    await writer.append([{ type: "session/title", data: title }]);
    await catchUp(db);

    expect(ids(await store.sessions())).toEqual(before);
  });

  it.each([
    [{ tenant: "even" }, 10],
    [{ tenant: null }, 10],
    [{ cwd: "/srv/店" }, 4],
    [{ cwd: "/srv/店", tenant: "even" }, 2],
    [{ parentSessionId: null }, 3],
    [{ parentSessionId: "session 00" }, 17],
    [{ origin: "subagent" }, 0],
    [{ statuses: ["idle", "open"] }, 20],
    [{ statuses: [] }, 0],
    [{ sessionIds: ["session 01", "session 07", "nobody"] }, 2],
    [{ sessionIds: [] }, 0],
    [{ createdFromMs: CREATED_MS + 5, createdToMs: CREATED_MS + 7 }, 3],
  ])("filtered by %j has %i rows", async (filter, count) => {
    expect(await database().store.sessions(filter)).toHaveLength(count);
  });
});

describe("revisions", () => {
  it("change with every append and with nothing else, and are those of stored sessions", async () => {
    const { store } = database();
    const asked = ["session 01", "session 02", "nobody"];
    const before = await store.revisions(asked);
    expect([...before.keys()].toSorted()).toEqual(["session 01", "session 02"]);

    const { head } = await store.session("session 01");
    await store.append("session 01", [note()], { expectedSeq: head });

    const after = await store.revisions(asked);
    expect(after.get("session 02")).toBe(before.get("session 02"));
    expect(after.get("session 01")).not.toBe(before.get("session 01"));
    expect(await store.revisions(asked)).toEqual(after);
  });

  it("are another for a session that is made anew with as many events", async () => {
    const { db, store } = database();
    await store.append("again", [note()], { expectedSeq: 0 });
    const before = await store.revisions(["again"]);
    await db.rows({
      text: "update turnlog.sessions set deleted_at = now() where session_id = 'again'",
    });
    await db.rows({
      text: "alter table turnlog.events disable trigger events_append_only",
    });
    await db.rows({
      text: "delete from turnlog.events where session_id = 'again'",
    });
    await db.rows({
      text: "delete from turnlog.outbox where session_id = 'again'",
    });
    await db.rows({
      text: "alter table turnlog.events enable trigger events_append_only",
    });
    expect(await store.revisions(["again"])).toEqual(new Map());

    await store.append("again", [note()], { expectedSeq: 0, recreate: true });

    expect(await store.revisions(["again"])).not.toEqual(before);
  });

  it("of too many sessions at once are refused", async () => {
    await expect(
      database().store.revisions(
        Array.from({ length: 1_001 }, (_, at) => `session ${at}`),
      ),
    ).rejects.toMatchObject({ code: "EVENT_INVALID", path: "sessionIds" });
  });
});
