import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import { connect } from "../../src/db/connect.ts";
import { freePort } from "../../src/embedded/free-port.ts";
import { ConfigInvalidError } from "../../src/errors.ts";
import { serveHealth } from "../../src/health/serve-health.ts";
import { silentLogger } from "../../src/logger.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { useTestDatabase } from "../support/database.ts";
import { notes } from "../support/events.ts";
import { notesProjection } from "../support/projector-notes.ts";
import { endLease } from "../support/relay-steps.ts";
import { eventually } from "../support/relay-waiting.ts";
import { startWorker } from "../support/worker-process.ts";

const database = useTestDatabase();
const NOWHERE = "redis://127.0.0.1:1";

/** A server of the endpoints over this file's database, or another. */
const serveHere = (given: { redisUrl?: string; databaseUrl?: string } = {}) =>
  serveHealth({
    db:
      given.databaseUrl === undefined
        ? database().db
        : connect({
            databaseUrl: given.databaseUrl,
            poolSize: 1,
            applicationName: "turnlog-test",
            preparedStatements: true,
            connectTimeoutMs: 500,
          }),
    redisUrl: given.redisUrl ?? null,
    redisPrefix: "turnlog",
    port: 0,
    logger: silentLogger,
  });

async function readyz(port: number) {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  const body: {
    readonly status: string;
    readonly problems: readonly { readonly code: string }[];
  } = JSON.parse(await answer.text());
  return {
    code: answer.status,
    status: body.status,
    problems: body.problems.map(({ code }) => code),
  };
}

/** Values by name, and by name and projection. */
async function metrics(port: number): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.headers.get("content-type")).toContain("text/plain");
  const lines = (await answer.text())
    .split("\n")
    .filter((line) => /^[a-z]/.test(line));
  return new Map(
    lines.map((line) => {
      const [, name = "", projection, value] =
        /^(\w+)(?:\{projection="(\w+)".*\})? (\S+)$/.exec(line) ?? [];
      return [
        projection === undefined ? name : `${name} ${projection}`,
        Number(value),
      ];
    }),
  );
}

async function append(): Promise<string> {
  const id = randomUUID();
  await database().store.append(id, notes(3), { expectedSeq: 0 });
  return id;
}

describe("metrics and readiness", () => {
  it("tell the truth while all runs, and when relay, projector and both are killed (G2 #22, #29)", async () => {
    const { url, store } = database();
    await using server = await serveHere();
    const port = server.port;
    expect(await readyz(port)).toEqual({
      code: 503,
      status: "down",
      problems: ["NO_RELAY"],
    });
    const relay = startWorker("relay", url);
    const projector = startWorker("projector", url);
    await store.waitFor(await append(), { seq: 2, timeoutMs: 30_000 });
    await eventually(async () => {
      const all = await metrics(port);
      expect(all.get("turnlog_work_sessions")).toBe(0);
    });
    const whole = await metrics(port);
    expect(whole.get("turnlog_database_up")).toBe(1);
    expect(whole.get("turnlog_relay_leads")).toBe(1);
    expect(whole.get("turnlog_relay_lease_seconds")).toBeGreaterThan(0);
    expect(whole.get("turnlog_feed_position")).toBe(1);
    expect(whole.get("turnlog_outbox_appends")).toBe(0);
    expect(whole.get("turnlog_projection_events_behind messages")).toBe(0);
    expect(whole.get("turnlog_projection_lag_seconds messages")).toBe(0);
    expect(await readyz(port)).toEqual({
      code: 200,
      status: "ok",
      problems: [],
    });

    await projector.kill("SIGKILL");
    await append();
    await eventually(async () => {
      const all = await metrics(port);
      expect(all.get("turnlog_feed_position")).toBe(2);
      expect(all.get("turnlog_work_sessions")).toBe(1);
      expect(all.get("turnlog_projection_events_behind usage")).toBe(3);
      expect(all.get("turnlog_projection_lag_seconds usage")).toBeGreaterThan(
        1,
      );
    });

    await relay.kill("SIGKILL");
    await append();
    await eventually(async () => {
      expect((await readyz(port)).problems).toContain("NO_RELAY");
      const all = await metrics(port);
      expect(all.get("turnlog_relay_leads")).toBe(0);
      expect(all.get("turnlog_relay_lease_seconds")).toBeLessThan(0);
      expect(all.get("turnlog_outbox_appends")).toBe(1);
      expect(all.get("turnlog_outbox_oldest_seconds")).toBeGreaterThan(1);
      expect(all.get("turnlog_projection_sessions_behind usage")).toBe(2);
      expect(all.get("turnlog_projection_events_behind usage")).toBe(6);
    });
  });

  it("say that sessions wait for a projector, and appends for a relay that does not drain", async () => {
    const { db } = database();
    await using server = await serveHere();
    await db.rows({
      text: "update turnlog.lease set holder = gen_random_uuid(), until = now() + interval '1 minute'",
    });
    await append();
    await db.rows({
      text: "update turnlog.outbox set since = now() - interval '1 minute'",
    });
    await db.rows({
      text: "update turnlog.work set since = now() - interval '2 minutes'",
    });

    const found = await readyz(server.port);

    expect(found).toEqual({
      code: 503,
      status: "down",
      problems: ["OUTBOX_WAITS", "WORK_WAITS"],
    });
    await endLease(db);
  });

  it("count what fails and what is parked, of each build by itself", async () => {
    const { db } = database();
    await ensureBuilds(db, [...builtInProjections, notesProjection("mine")]);
    await using server = await serveHere();
    const text = `
      insert into turnlog.checkpoints
        (session_id, build, next_seq, incarnation, redaction_generation, state, attempts, error_seq, error_code, failed_at, next_at, parked_at)
      select s.session_id, b.number, 1, s.incarnation, 0, '', 8, 1, 'X', now() - interval '10 minutes',
             case when s.n = 1 then now() + interval '1 hour' end, case when s.n = 2 then now() end
      from (select *, row_number() over (order by session_id) as n from turnlog.sessions) s, turnlog.builds b
      where b.projection = 'mine' and s.n <= 2`;
    await db.rows({ text });

    const all = await metrics(server.port);

    expect(all.get("turnlog_projection_failing_sessions mine")).toBe(1);
    expect(all.get("turnlog_projection_parked_sessions mine")).toBe(1);
    expect(all.get("turnlog_projection_parked_sessions usage")).toBe(0);
    expect(all.get("turnlog_projection_lag_seconds mine")).toBeGreaterThan(590);
    expect((await readyz(server.port)).problems).toContain("PARKED");
  });

  it("are degraded and not down without Redis", async () => {
    const { db } = database();
    await db.rows({
      text: "truncate turnlog.outbox, turnlog.work, turnlog.checkpoints",
    });
    await db.rows({
      text: "update turnlog.lease set holder = gen_random_uuid(), until = now() + interval '1 minute'",
    });
    await using server = await serveHere({ redisUrl: NOWHERE });

    expect(await readyz(server.port)).toEqual({
      code: 200,
      status: "degraded",
      problems: ["REDIS_UNREACHABLE"],
    });
    expect((await metrics(server.port)).get("turnlog_redis_up")).toBe(0);
    await endLease(db);
  });

  it("say that the database is away, and show no figure of before", async () => {
    await using server = await serveHere({
      databaseUrl: "postgres://a:b@127.0.0.1:1/c",
    });

    expect([...(await metrics(server.port))]).toEqual([
      ["turnlog_database_up", 0],
    ]);
    expect(await readyz(server.port)).toEqual({
      code: 503,
      status: "down",
      problems: ["DATABASE_UNAVAILABLE"],
    });
    const alive = await fetch(`http://127.0.0.1:${server.port}/healthz`);
    expect(alive.status).toBe(200);
  });

  it("are served by a worker that has a port, and refused where it is taken", async () => {
    const port = await freePort();
    const worker = startWorker("relay", database().url, "", {
      TURNLOG_METRICS_PORT: String(port),
    });
    await worker.started();

    expect((await metrics(port)).get("turnlog_database_up")).toBe(1);
    await expect(
      serveHealth({
        db: database().db,
        redisUrl: null,
        redisPrefix: "turnlog",
        port,
        logger: silentLogger,
      }),
    ).rejects.toBeInstanceOf(ConfigInvalidError);
    expect(await worker.kill("SIGTERM")).toBe(0);
  });
});
