/** The data of every event type this version knows, as zod schemas by type. */
import type { z } from "zod";
import { chunkSchemas } from "./chunks.ts";
import { compactionSchemas } from "./compaction.ts";
import { goalSchemas } from "./goals.ts";
import { hookSchemas } from "./hooks.ts";
import { inboxSchemas } from "./inbox.ts";
import { interactionSchemas } from "./interaction.ts";
import { messageSchemas } from "./messages.ts";
import { requestSchemas } from "./requests.ts";
import { scheduleSchemas } from "./schedule.ts";
import { subagentSchemas } from "./subagents.ts";
import { teamSchemas } from "./team.ts";
import { titleSchemas } from "./titles.ts";
import { toolSchemas } from "./tools.ts";
import { turnSchemas } from "./turns.ts";
import { workflowSchemas } from "./workflow.ts";

/**
 * Schemas of `data` by event type. They accept what a log may hold and not only what a writer should write: unknown
 * keys, unknown kinds of what is an open set, and any usage. Use `checkData` to check; parsing copies.
 */
export const eventSchemas = {
  ...turnSchemas,
  ...messageSchemas,
  ...chunkSchemas,
  ...toolSchemas,
  ...requestSchemas,
  ...compactionSchemas,
  ...titleSchemas,
  ...interactionSchemas,
  ...inboxSchemas,
  ...goalSchemas,
  ...hookSchemas,
  ...scheduleSchemas,
  ...subagentSchemas,
  ...teamSchemas,
  ...workflowSchemas,
} as const satisfies Readonly<Record<`${string}/${string}`, z.ZodType>>;

/** An event type this version knows. */
export type KnownType = keyof typeof eventSchemas;

/**
 * The data of an event of this type, like `EventData<"turn/start">`. Open sets are typed by the members we know.
 */
export type EventData<T extends KnownType> = z.output<(typeof eventSchemas)[T]>;
