/** Metrics and health over HTTP: each request looks at the database anew. */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import type { Queryable } from "../db/connect.ts";
import { ConfigInvalidError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { problemsOf } from "../query/problems.ts";
import { readFlow } from "../query/status.ts";
import { metricsOf, type Look } from "./metrics.ts";

export interface HealthOptions {
  readonly db: Queryable;
  /** Null where none is set. */
  readonly redisUrl: string | null;
  readonly redisPrefix: string;
  /** 0: any free one. */
  readonly port: number;
  readonly logger: Logger;
}

export interface HealthServer extends AsyncDisposable {
  readonly port: number;
}

const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Listens on every address of the host until disposed of.
 * - `/metrics`: Prometheus metrics; also while the database is away, with `turnlog_database_up 0`.
 * - `/healthz`: 200 while this process lives. It says nothing of lag, so that nobody restarts what is catching up.
 * - `/readyz`: 200 while appends reach the read tables; 503 with the problems when they don't.
 * @throws ConfigInvalidError when the port can't be had
 */
export async function serveHealth(
  options: HealthOptions,
): Promise<HealthServer> {
  const app = new Hono()
    .get("/metrics", async (context) =>
      context.body(await metricsOf(await look(options)), 200, {
        "content-type": PROMETHEUS,
      }),
    )
    .get("/healthz", (context) => context.json({ status: "ok" }))
    .get("/readyz", async (context) => {
      const { flow, redis } = await look(options);
      if (flow === null)
        return context.json({ status: "down", problems: [NO_DATABASE] }, 503);
      const problems = problemsOf(flow, redis);
      const isDown = problems.some(({ isFatal }) => isFatal);
      const status = isDown ? "down" : problems.length > 0 ? "degraded" : "ok";
      return context.json({ status, problems }, isDown ? 503 : 200);
    });
  const server = serve({ fetch: app.fetch, port: options.port });
  const port = await new Promise<number>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new ConfigInvalidError(
          `The metrics port ${options.port} can't be had: ${error.message}`,
          { cause: error },
        ),
      ),
    );
    server.once("listening", () => {
      const address = server.address();
      resolve(typeof address === "object" ? (address?.port ?? 0) : 0);
    });
  });
  options.logger.info({ port }, "metrics and health endpoints are up");
  return {
    port,
    async [Symbol.asyncDispose]() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

const NO_DATABASE = {
  code: "DATABASE_UNAVAILABLE",
  isFatal: true,
  message: "the database does not answer",
};

async function look(options: HealthOptions): Promise<Look> {
  const { db, logger } = options;
  const [flow, redis] = await Promise.all([
    readFlow(db).catch((error: unknown) => {
      logger.warn({ err: error }, "the flow could not be read");
      return null;
    }),
    probe(options),
  ]);
  return { flow, redis };
}

async function probe({
  redisUrl,
  redisPrefix,
}: HealthOptions): Promise<Look["redis"]> {
  if (redisUrl === null) return null;
  // Not before it is needed: the client library takes a while to load.
  const { probeRedis } = await import("../queue/redis/probe-redis.ts");
  return probeRedis(redisUrl, redisPrefix);
}
