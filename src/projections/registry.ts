/** The built-in projections. */
import type { Projection } from "../projector/projection.ts";
import { messages } from "./messages/projection.ts";
import { sessions } from "./sessions/projection.ts";
import { titles } from "./titles/projection.ts";
import { toolCalls } from "./tool-calls/projection.ts";
import { turns } from "./turns/projection.ts";
import { usage } from "./usage/projection.ts";

export const builtInProjections: readonly Projection[] = [
  messages,
  usage,
  titles,
  sessions,
  turns,
  toolCalls,
];
