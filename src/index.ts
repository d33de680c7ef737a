/** The public surface of the package. */
export { createSessionStore } from "./session-store.ts";
export { idText, safeBigint } from "./projections/columns.ts";
export { defineProjection } from "./projector/projection.ts";
export { AppendId, SessionId } from "./events/ids.ts";
export {
  AppendIdReusedError,
  AppendOutcomeUnknownError,
  BuildLockedError,
  BuildNotFoundError,
  BuildUnfedError,
  BuildVerifyFailedError,
  ConfigInvalidError,
  DatabaseUnavailableError,
  EmbeddedUnavailableError,
  EventInvalidError,
  EventNotFoundError,
  EventTooLargeError,
  EventTypeUnknownError,
  FormatUnsupportedError,
  ImportConflictError,
  LogCorruptError,
  ParkedNotFoundError,
  ProjectionInvalidError,
  ProjectionParkedError,
  ProjectionUnknownError,
  ProjectionVersionUnknownError,
  QueueUnavailableError,
  RebuildEndedError,
  RebuildStoppedError,
  RequestNotFoundError,
  RulesOutdatedError,
  SchemaOutdatedError,
  SchemaTooNewError,
  SessionBusyError,
  SessionDeletedError,
  SessionNotFoundError,
  StoreClosedError,
  TransactionUnsuitableError,
  ViewLockedError,
  TurnlogError,
  WaitTimeoutError,
  WriterClosedError,
  WriterFencedError,
  WriterReentrantError,
  WrongExpectedSeqError,
} from "./errors.ts";
export {
  eventsView,
  messagesView,
  parkedView,
  projectionStatusView,
  sessionsView,
  sessionTotalsView,
  titlesView,
  tokenStatsView,
  toolCallsView,
  turnsView,
  usageByDayView,
  usageByModelView,
  usageView,
} from "./query/views.ts";
export { verifyProjections } from "./verify/verify-projections.ts";
export type { ErrorCode } from "./errors.ts";
export type {
  CallerTransaction,
  DrizzleTransaction,
  PgTransaction,
  PostgresTransaction,
} from "./db/joined.ts";
export type { DerivedMessage } from "./events/derive-messages.ts";
export type { NewEvent, SessionEvent } from "./events/event.ts";
export type { NewSessionHeader, SessionHeader } from "./events/header.ts";
export type { JsonObject, JsonValue } from "./events/json.ts";
export type { Finding } from "./events/rules/log-audit.ts";
export type { Message } from "./events/message.ts";
export type { SurfaceOp } from "./events/surface.ts";
export type {
  TranscriptCompaction,
  TranscriptItem,
  TranscriptMarker,
  TranscriptMessage,
  TranscriptTurnEnd,
} from "./events/transcript.ts";
export type { AppendResult } from "./log/append-request.ts";
export type { CheckReport } from "./log/check-session.ts";
export type { RegisteredType } from "./log/event-types.ts";
export type { SessionInspection } from "./log/inspect.ts";
export type { RecordedRequest, RequestQuery } from "./log/request-at.ts";
export type { TranscriptOptions } from "./log/transcript.ts";
export type { ReadOptions } from "./log/read.ts";
export type { EventWindow, WindowOptions } from "./log/event-window.ts";
export type { EventTrace } from "./log/trace-event.ts";
export type { SessionsQuery } from "./query/list-sessions.ts";
export type { EventData, KnownType } from "./events/schemas/event-schemas.ts";
export type {
  EventOf,
  ProjectedEvent,
  Projection,
  ProjectionDefinition,
  Rows,
} from "./projector/projection.ts";
export type { TurnlogConfig } from "./runtime/user-projections.ts";
export type { MessagesQuery } from "./query/read-views.ts";
export type {
  MessageRow,
  SessionListRow,
  TitleRow,
  TokenStatsRow,
  UsageRow,
} from "./query/views.ts";
export type {
  CreateOptions,
  OpenOptions,
  TakenOver,
} from "./writer/open-session.ts";
export type { EventListener } from "./writer/listeners.ts";
export type { EventMarks, SessionWriter } from "./writer/session-writer.ts";
export type { WriterOptions } from "./writer/writer-settings.ts";
export type {
  AppendOptions,
  Page,
  SessionInfo,
  SessionStore,
  SessionStoreOptions,
  WaitOptions,
} from "./session-store.ts";

export {
  openBuilds,
  type Builds,
  type DeployResult,
  type RebuildOptions,
} from "./builds/operator.ts";
export type { BuildListRow, RebuildProgress } from "./builds/list-builds.ts";
export type { EndedBuild } from "./builds/end-builds.ts";
export type { ProjectionPlan, RebuildPlan } from "./builds/plan.ts";
export type { RebuildResult } from "./builds/run-rebuild.ts";
export type { Verification } from "./builds/verify.ts";
export type { RowDifference } from "./verify/row-difference.ts";
export type { BuildVerification, Difference } from "./verify/verify-build.ts";
export type {
  ProjectionVerification,
  VerifyOptions,
} from "./verify/verify-projections.ts";
