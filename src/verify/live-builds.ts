/** The live builds and the definitions that feed them, and the sessions to look at. */
import type { Queryable } from "../db/connect.ts";
import {
  ProjectionUnknownError,
  ProjectionVersionUnknownError,
} from "../errors.ts";
import type { Projection } from "../projector/projection.ts";

export interface LiveBuild {
  readonly build: number;
  readonly projection: Projection;
}

/**
 * @param name one projection, or null for all
 * @throws ProjectionUnknownError, ProjectionVersionUnknownError
 */
export async function liveBuilds(
  db: Queryable,
  projections: readonly Projection[],
  name: string | null,
): Promise<readonly LiveBuild[]> {
  const rows = await db.rows<{
    number: number;
    projection: string;
    version: number;
  }>({
    text: "select number, projection, version from turnlog.builds where status = 'live' order by number",
  });
  const known = rows.map(({ projection }) => projection);
  if (name !== null && !known.includes(name))
    throw new ProjectionUnknownError({ projection: name, known });
  return rows
    .filter(({ projection }) => name === null || projection === name)
    .map(({ number, projection, version }) => {
      const definition = projections.find((one) => one.name === projection);
      if (definition?.version !== version)
        throw new ProjectionVersionUnknownError({
          projection,
          version,
          known: definition?.version ?? null,
        });
      return { build: number, projection: definition };
    });
}

/** Ids of sessions at random; reads the table of sessions once. */
export async function sampleSessions(
  db: Queryable,
  count: number,
): Promise<readonly string[]> {
  const rows = await db.rows<{ session_id: string }>(
    {
      text: `
        select session_id
        from turnlog.sessions
        where deleted_at is null
        order by random()
        limit $1`,
    },
    [count],
  );
  return rows.map((row) => row.session_id);
}
