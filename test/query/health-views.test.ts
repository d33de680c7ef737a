import { desc, eq, gt } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import {
  parkedView,
  projectionStatusView,
  sessionsView,
  sessionTotalsView,
} from "../../src/index.ts";
import { useTestDatabase } from "../support/database.ts";
import { note } from "../support/events.ts";
import { useFailingProjections } from "../support/projector-failing.ts";

const database = useTestDatabase();
const { appendNotes, failUntilParked } = useFailingProjections(database);

const statusOf = async (projection: string) => {
  const [row] = await database()
    .db.orm.select()
    .from(projectionStatusView)
    .where(eq(projectionStatusView.projection, projection));
  return row;
};

describe("the views of health", () => {
  it("show a session that one projection gave up, and no other as behind", async () => {
    const sessionId = await appendNotes("a", "throw", "c");
    await failUntilParked(sessionId);

    expect(
      await database()
        .db.orm.select()
        .from(parkedView)
        .where(eq(parkedView.sessionId, sessionId)),
    ).toEqual([
      expect.objectContaining({
        projection: "throwing",
        version: 1,
        seq: 1,
        errorCode: expect.any(String),
        nextAt: null,
        parkedAt: expect.any(Date),
      }),
    ]);
    expect(await statusOf("throwing")).toMatchObject({
      status: "live",
      sessionsBehind: 1,
      eventsBehind: 2,
      failingSessions: 0,
      parkedSessions: 1,
    });
    expect(await statusOf("steady")).toMatchObject({
      sessionsBehind: 0,
      eventsBehind: 0,
      oldestUnappliedMs: null,
      parkedSessions: 0,
    });
  });

  it("count a session that no relay has taken yet", async () => {
    const { store } = database();
    await store.append("not taken", [note("a"), note("b")], { expectedSeq: 0 });

    expect(await statusOf("steady")).toMatchObject({
      sessionsBehind: 1,
      eventsBehind: 2,
      oldestUnappliedMs: expect.any(Number),
    });
  });

  it("count every session for a build that is being made", async () => {
    const { db } = database();
    await db.rows({
      text: "insert into turnlog.builds (number, projection, version, status) values (900, 'steady', 2, 'building')",
    });
    const rows = await db.orm
      .select()
      .from(projectionStatusView)
      .where(eq(projectionStatusView.build, 900));

    expect(rows).toMatchObject([
      { status: "building", sessionsBehind: 2, eventsBehind: 5 },
    ]);
  });
});

describe("relations of the read views", () => {
  it("are joined in a query of one's own", async () => {
    const rows = await database()
      .db.orm.select({
        id: sessionsView.sessionId,
        tokens: sessionTotalsView.subtreeTokens,
      })
      .from(sessionsView)
      .innerJoin(
        sessionTotalsView,
        eq(sessionTotalsView.sessionId, sessionsView.sessionId),
      )
      .where(gt(sessionsView.head, 0))
      .orderBy(desc(sessionTotalsView.subtreeTokens));

    expect(rows).toMatchObject([{ tokens: 0 }]);
  });
});
