/** The object a backend service holds: append to sessions, read them back, and read what was made of them. */
import { isPostgresUrl } from "./config.ts";
import { ConfigInvalidError } from "./errors.ts";
import { connect, type Db } from "./db/connect.ts";
import { checkSchema } from "./db/migrate.ts";
import { SessionId } from "./events/ids.ts";
import type { AppendContext } from "./log/append.ts";
import { takeEvents, takeRecords } from "./log/take-events.ts";
import { checkSession } from "./log/check-session.ts";
import { Doorbell } from "./log/doorbell.ts";
import type { SizeLimits } from "./log/encode-append.ts";
import { EventTypes } from "./log/event-types.ts";
import { recordFindings } from "./log/import-findings.ts";
import { StateCache } from "./log/state-cache.ts";
import { Appending } from "./session-store/appending.ts";
import { logReads } from "./session-store/log-reads.ts";
import type { SessionStore } from "./session-store/session-store.ts";
import {
  DEFAULT_LIMITS,
  type SessionStoreOptions,
} from "./session-store/store-options.ts";
import { viewReads } from "./session-store/view-reads.ts";
import { createSession, openSession, takeOver } from "./writer/open-session.ts";
import type { WriterContext } from "./writer/writer-settings.ts";

export type { AppendOptions } from "./session-store/appending.ts";
export type {
  Page,
  SessionInfo,
  SessionStore,
  WaitOptions,
} from "./session-store/session-store.ts";
export type { SessionStoreOptions } from "./session-store/store-options.ts";

/**
 * Connects to a migrated database.
 * @throws DatabaseUnavailableError, SchemaOutdatedError, SchemaTooNewError
 */
export async function createSessionStore(
  options: SessionStoreOptions,
): Promise<SessionStore> {
  if (!isPostgresUrl(options.databaseUrl))
    throw new ConfigInvalidError(
      "databaseUrl must be postgres://user:password@host:port/database.",
    );
  const db = connect({
    databaseUrl: options.databaseUrl,
    poolSize: options.poolSize ?? 10,
    applicationName: options.applicationName ?? "turnlog",
    preparedStatements: options.preparedStatements ?? true,
  });
  try {
    await checkSchema(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return storeOver(db, options);
}

/** A store over an open connection; closing the store closes it. */
export function storeOver(
  db: Db,
  settings: Pick<SessionStoreOptions, keyof SizeLimits | "coalesce"> = {},
): SessionStore {
  const {
    maxEventCharacters = DEFAULT_LIMITS.maxEventCharacters,
    maxAppendCharacters = DEFAULT_LIMITS.maxAppendCharacters,
    coalesce = true,
  } = settings;
  const limits = { maxEventCharacters, maxAppendCharacters };
  const doorbell = new Doorbell(db);
  const context: AppendContext = {
    db,
    types: new EventTypes(db),
    states: new StateCache(),
  };
  const { types } = context;
  const appending = new Appending(context, doorbell, limits, coalesce);
  const ring = (): void => doorbell.ring();
  const writers: WriterContext = { db, types, limits, ring };
  const close = async (): Promise<void> => {
    await appending.close();
    doorbell.close();
    await db.close();
  };
  return {
    ...logReads(db),
    ...viewReads(db),
    async append(sessionId, events, options) {
      return appending.append(
        SessionId(sessionId),
        (firstSeq) => takeEvents(events, firstSeq),
        options,
      );
    },
    async appendRecords(sessionId, records, options) {
      return appending.append(
        SessionId(sessionId),
        () => takeRecords(records, options.expectedSeq),
        options,
      );
    },
    async open(sessionId, options) {
      return openSession(writers, SessionId(sessionId), options ?? {});
    },
    async create(sessionId, options) {
      return createSession(writers, SessionId(sessionId), options ?? {});
    },
    async takeOver(sessionId) {
      return takeOver(writers, SessionId(sessionId));
    },
    registerEventType: (type) => types.register(type),
    eventTypes: () => types.list(),
    knowsEventType: (type) => types.knows(type),
    async check(sessionId, options) {
      return checkSession(db, SessionId(sessionId), {
        fixState: options?.fixState ?? false,
      });
    },
    async recordFindings(sessionId, findings) {
      await recordFindings(db, SessionId(sessionId), findings);
    },
    limits,
    close,
    [Symbol.asyncDispose]: close,
  };
}
