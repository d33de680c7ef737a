/** Verifies the live builds: all projections or one, over some sessions or all. */
import { isPostgresUrl } from "../config.ts";
import { connect, type Db } from "../db/connect.ts";
import { checkSchema } from "../db/migrate.ts";
import { ConfigInvalidError } from "../errors.ts";
import { readSessionIds } from "../log/session-ids.ts";
import { builtInProjections } from "../projections/registry.ts";
import type { Projection } from "../projector/projection.ts";
import { liveBuilds, sampleSessions } from "./live-builds.ts";
import { verifyBuild, type BuildVerification } from "./verify-build.ts";

/** What came of one projection. */
export interface ProjectionVerification extends BuildVerification {
  readonly projection: string;
  readonly version: number;
  readonly build: number;
}

export interface VerifyRequest {
  /** Definitions of all projections that have a live build. */
  readonly projections: readonly Projection[];
  /** Only this one; null for all. */
  readonly projection: string | null;
  /** How many sessions, taken at random; or all; or these. */
  readonly sessions: number | "all" | readonly string[];
  readonly onSession?: (sofar: ProjectionVerification) => void;
}

/**
 * Verifies live builds, one after the other, each up to its first difference. Writes nothing and locks nothing.
 * @throws ProjectionUnknownError, ProjectionVersionUnknownError
 */
export async function verifyLiveBuilds(
  db: Db,
  request: VerifyRequest,
): Promise<readonly ProjectionVerification[]> {
  const { projections, sessions, onSession } = request;
  const builds = await liveBuilds(db, projections, request.projection);
  const some =
    typeof sessions === "number"
      ? await sampleSessions(db, sessions)
      : sessions;
  const found: ProjectionVerification[] = [];
  for (const { build, projection } of builds) {
    const { name, version } = projection;
    const named = (one: BuildVerification) => ({
      projection: name,
      version,
      build,
      ...one,
    });
    const verification = await verifyBuild(db, {
      build,
      projection,
      sessionIds: some === "all" ? readSessionIds(db) : some,
      onSession: (sofar) => onSession?.(named(sofar)),
    });
    found.push(named(verification));
  }
  return found;
}

export interface VerifyOptions {
  readonly databaseUrl: string;
  /** Projections of your own that the database has, beside the built-in ones. @defaultValue none */
  readonly projections?: readonly Projection[];
  /** Name of the one to verify. @defaultValue all */
  readonly projection?: string;
  /** How many sessions, taken at random; or all; or these. @defaultValue 100 */
  readonly sessions?: number | "all" | readonly string[];
}

/** Sessions that are looked at unless more are asked for. */
export const DEFAULT_SAMPLE = 100;

/**
 * Folds sessions anew in memory and compares the live read tables with that, in one snapshot a session, while appends
 * and projectors go on. Writes nothing.
 * @throws ProjectionUnknownError, ProjectionVersionUnknownError, ConfigInvalidError, DatabaseUnavailableError,
 * SchemaOutdatedError, SchemaTooNewError
 * @example const [first] = await verifyProjections({ databaseUrl, projection: "usage", sessions: "all" })
 */
export async function verifyProjections(
  options: VerifyOptions,
): Promise<readonly ProjectionVerification[]> {
  if (!isPostgresUrl(options.databaseUrl))
    throw new ConfigInvalidError(
      "databaseUrl must be postgres://user:password@host:port/database.",
    );
  await using db = connect({
    databaseUrl: options.databaseUrl,
    poolSize: 2,
    applicationName: "turnlog-verify",
    preparedStatements: false,
  });
  await checkSchema(db);
  return await verifyLiveBuilds(db, {
    projections: [...builtInProjections, ...(options.projections ?? [])],
    projection: options.projection ?? null,
    sessions: options.sessions ?? DEFAULT_SAMPLE,
  });
}
