/** What an operator does with builds, from a program: the same as on the command line. */
import { setTimeout as sleep } from "node:timers/promises";
import { isPostgresUrl } from "../config.ts";
import { connect, type Db } from "../db/connect.ts";
import { checkSchema } from "../db/migrate.ts";
import {
  ConfigInvalidError,
  ProjectionUnknownError,
  RebuildStoppedError,
} from "../errors.ts";
import { SessionId } from "../events/ids.ts";
import { silentLogger, type Logger } from "../logger.ts";
import { builtInProjections } from "../projections/registry.ts";
import type { Projection } from "../projector/projection.ts";
import { beginRebuild, readBuilds, type RebuildKind } from "./begin-rebuild.ts";
import { cancelRebuild, dropKept, type EndedBuild } from "./end-builds.ts";
import { feedOnce } from "./feed.ts";
import {
  listBuilds,
  readRebuilds,
  type BuildListRow,
  type RebuildProgress,
} from "./list-builds.ts";
import { planRebuild, type RebuildPlan } from "./plan.ts";
import { rebuildSession } from "./rebuild-session.ts";
import { rollBack } from "./rollback.ts";
import { runRebuild, type RebuildResult } from "./run-rebuild.ts";
import { unfed } from "./workers.ts";

export interface RebuildOptions {
  /** Portions of the log that this process works on at a time. @defaultValue 2 */
  readonly concurrency?: number;
  /** How long the swap waits for old transactions, and for locks, in ms each. @defaultValue 60000 */
  readonly waitMs?: number;
  /** Aborted to stop: what is done is kept, and the same call goes on from there. */
  readonly signal?: AbortSignal;
}

export interface DeployResult {
  /** Projections whose version changed, or that are new; empty when all are live as they are. */
  readonly deployed: readonly string[];
  /** Null when there was nothing to do. */
  readonly result: RebuildResult | null;
  /** Of those, the ones that no running projector has the version of yet: their tables stand still until one is started. */
  readonly unfed: readonly string[];
}

export interface Builds extends AsyncDisposable {
  /** Projections that this release has. */
  readonly names: readonly string[];
  /** @throws ProjectionUnknownError */
  plan(projections: readonly string[]): Promise<RebuildPlan>;
  /** What `deploy` would do; null when every projection is live at the version of this release. */
  planDeploy(): Promise<RebuildPlan | null>;
  /**
   * Builds projections anew while everything runs, verifies, and points the views at the new builds. Several processes
   * may make the same call to share the work.
   * @throws ProjectionUnknownError, BuildNotFoundError, BuildLockedError, BuildVerifyFailedError, RebuildEndedError,
   * RebuildStoppedError
   */
  rebuild(
    projections: readonly string[],
    options?: RebuildOptions,
  ): Promise<RebuildResult>;
  /**
   * Rebuilds one session in the live builds. Returns their numbers.
   * @throws ProjectionUnknownError, SessionNotFoundError, SessionDeletedError, BuildNotFoundError, BuildLockedError
   */
  rebuildSession(
    projections: readonly string[],
    sessionId: string,
  ): Promise<readonly number[]>;
  /**
   * Builds every projection whose version is not the live one, beside the running workers of the old release, and swaps
   * all at once. @throws as `rebuild`
   */
  deploy(options?: RebuildOptions): Promise<DeployResult>;
  /**
   * After a deployment: feeds the new builds in place of the workers that are not there yet, until they are, or told to
   * stop. Returns the names of projections that are still unfed.
   */
  feedUntilWorkers(options: {
    readonly signal: AbortSignal;
  }): Promise<readonly string[]>;
  /** @throws BuildNotFoundError, BuildUnfedError, BuildLockedError, RebuildStoppedError */
  rollback(
    projections: readonly string[],
    options?: RebuildOptions & { readonly onWait?: (text: string) => void },
  ): Promise<readonly EndedBuild[]>;
  /** Drops the kept builds of projections. @throws BuildNotFoundError, BuildLockedError */
  drop(projections: readonly string[]): Promise<readonly EndedBuild[]>;
  /** Ends a rebuild that is under way; default: the only one. @throws BuildNotFoundError, BuildLockedError */
  cancel(rebuild?: number): Promise<{
    readonly rebuild: number;
    readonly builds: readonly EndedBuild[];
  }>;
  /** Builds that are there, or with `all` those too that are over. */
  list(options?: { readonly all?: boolean }): Promise<readonly BuildListRow[]>;
  /** Rebuilds that are under way. */
  progress(): Promise<readonly RebuildProgress[]>;
  close(): Promise<void>;
}

/** Pause between looks for work of others. */
const LOOK_MS = 50;

const DEFAULTS = { concurrency: 2, waitMs: 60_000 };

/**
 * Connects to a migrated database as a role that owns the views and builds.
 * @throws ConfigInvalidError, DatabaseUnavailableError, SchemaOutdatedError, SchemaTooNewError
 * @example await using builds = await openBuilds({ databaseUrl }); await builds.rebuild(["messages"])
 */
export async function openBuilds(options: {
  readonly databaseUrl: string;
  /** Connections at most. @defaultValue 10 */
  readonly poolSize?: number;
  readonly logger?: Logger;
}): Promise<Builds> {
  if (!isPostgresUrl(options.databaseUrl))
    throw new ConfigInvalidError(
      "databaseUrl must be postgres://user:password@host:port/database.",
    );
  const db = connect({
    databaseUrl: options.databaseUrl,
    poolSize: options.poolSize ?? 10,
    applicationName: "turnlog-builds",
    preparedStatements: true,
  });
  try {
    await checkSchema(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return buildsOver(db, {
    projections: builtInProjections,
    logger: options.logger ?? silentLogger,
  });
}

/** Over an open connection; closing closes it. */
export function buildsOver(
  db: Db,
  context: {
    readonly projections: readonly Projection[];
    readonly logger: Logger;
  },
): Builds {
  const { projections: known, logger } = context;
  const pick = (names: readonly string[]): readonly Projection[] =>
    [...new Set(names)].map((name) => {
      const found = known.find((projection) => projection.name === name);
      if (found === undefined)
        throw new ProjectionUnknownError({
          projection: name,
          known: known.map((projection) => projection.name),
        });
      return found;
    });
  const run = async (
    projections: readonly Projection[],
    kind: RebuildKind,
    options: RebuildOptions,
  ): Promise<RebuildResult> => {
    const rebuild = await beginRebuild(db, projections, kind);
    const { signal = new AbortController().signal } = options;
    return runRebuild({ db, rebuild, logger, ...DEFAULTS, ...options, signal });
  };
  const close = (): Promise<void> => db.close();
  return {
    names: known.map(({ name }) => name),
    plan: async (names) => planRebuild(db, pick(names)),
    async planDeploy() {
      const changed = await changedProjections(db, known);
      return changed.length === 0 ? null : planRebuild(db, changed);
    },
    rebuild: async (names, options = {}) => run(pick(names), "same", options),
    rebuildSession: async (names, sessionId) =>
      rebuildSession(db, pick(names), SessionId(sessionId)),
    async deploy(options = {}) {
      const changed = await changedProjections(db, known);
      const deployed = changed.map(({ name }) => name);
      if (changed.length === 0) return { deployed, result: null, unfed: [] };
      const result = await run(changed, "deploy", options);
      const waiting = await unfed(db, changed);
      return { deployed, result, unfed: waiting.map(({ name }) => name) };
    },
    async feedUntilWorkers({ signal }) {
      const rows = await readBuilds(db);
      const builds = rows.flatMap(({ number, projection, version, status }) => {
        const found = known.find(
          (candidate) =>
            candidate.name === projection && candidate.version === version,
        );
        return found === undefined || status !== "live"
          ? []
          : [{ build: number, projection: found }];
      });
      for (;;) {
        const waiting = await unfed(db, known);
        if (waiting.length === 0 || signal.aborted)
          return waiting.map(({ name }) => name);
        const fed = await feedOnce({
          db,
          builds,
          logger,
          signal,
          concurrency: DEFAULTS.concurrency,
        });
        if (fed === 0) await sleep(LOOK_MS);
      }
    },
    async rollback(names, options = {}) {
      const { onWait, signal = new AbortController().signal } = options;
      const builds = await rollBack(db, names, {
        waitMs: options.waitMs ?? DEFAULTS.waitMs,
        signal,
        onWait: async (text) => onWait?.(text),
      });
      if (builds === null) throw new RebuildStoppedError(null);
      return builds;
    },
    drop: (names) => dropKept(db, names),
    cancel: (rebuild) => cancelRebuild(db, rebuild ?? null),
    list: ({ all = false } = {}) => listBuilds(db, all),
    progress: () => readRebuilds(db),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Of the projections those that are not live at their version. */
async function changedProjections(
  db: Db,
  known: readonly Projection[],
): Promise<readonly Projection[]> {
  const rows = await readBuilds(db);
  return known.filter(
    ({ name, version }) =>
      !rows.some(
        (row) =>
          row.projection === name &&
          row.version === version &&
          row.status === "live",
      ),
  );
}
