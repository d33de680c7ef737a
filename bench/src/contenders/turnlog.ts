/** Turnlog itself, through the store that a service holds. */
import { openBuilds } from "../../../src/builds/operator.ts";
import { ensureBuilds } from "../../../src/builds/ensure-builds.ts";
import { connect } from "../../../src/db/connect.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { builtInProjections } from "../../../src/projections/registry.ts";
import {
  createSessionStore,
  type SessionStoreOptions,
} from "../../../src/session-store.ts";
import type { ContenderKind } from "./contender.ts";

/** As services use it: small appends that meet share a call. */
export const turnlog = turnlogOf("turnlog", { coalesce: true });

/** Each append by itself. */
export const turnlogDirect = turnlogOf("turnlog, direct", { coalesce: false });

/** Turnlog with these settings of the store. */
export function turnlogOf(
  name: string,
  settings: Partial<SessionStoreOptions>,
): ContenderKind {
  return {
    name,
    /** Replay, indexes, verification and swap. */
    async rebuildMessages(databaseUrl) {
      await using builds = await openBuilds({ databaseUrl });
      await builds.rebuild(["messages"]);
    },
    async install(databaseUrl) {
      await using db = connect({
        databaseUrl,
        poolSize: 2,
        applicationName: "turnlog-bench",
        preparedStatements: true,
      });
      await migrate(db);
      await ensureBuilds(db, builtInProjections);
    },
    async connect(options) {
      const store = await createSessionStore({ ...options, ...settings });
      return {
        async append(sessionId, events, expectedSeq) {
          await store.append(sessionId, events, { expectedSeq });
        },
        async read(sessionId) {
          let count = 0;
          for await (const _event of store.read(sessionId)) count += 1;
          return count;
        },
        close: () => store.close(),
      };
    },
  };
}
