/** Data of a goal: an objective that the agent pursues over several rounds by itself. Each event holds all of it. */
import { z } from "zod";
import {
  count,
  eventOf,
  exact,
  number,
  oneOf,
  ordinal,
  refuse,
  text,
  trimmedText,
} from "./fields.ts";

const id = text("Identity of the goal");
const revision = ordinal("One more with each change of the goal");
const kind = oneOf(["goal/change"], "The type of the event once more");
const version = z
  .literal(1)
  .meta({ description: "Version of this shape", shape: "`1`" });

const common = {
  id,
  revision,
  objective: trimmedText("What is to be reached"),
  maxGoalRounds: ordinal("Most rounds it may take"),
};

const blockedReason = exact(
  {
    code: text("Stable name")
      .refine(
        (code) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(code),
        "must be lower-case words joined by hyphens",
      )
      .meta({ shape: "lower-case words joined by hyphens" }),
    message: trimmedText("The reason in words"),
  },
  "Why it can't go on; in phase `blocked` only",
);

const goal = z
  .discriminatedUnion("phase", [
    exact({
      phase: oneOf(["active", "paused", "complete"], "Where it stands"),
      ...common,
    }),
    exact({
      phase: oneOf(["blocked"], "It can't go on"),
      ...common,
      blockedReason,
    }),
  ])
  .meta({
    description: "The goal after the change",
    shape: "object, no other keys",
  });

const snapshot = exact({
  kind,
  version,
  operation: oneOf(
    ["create", "edit", "pause", "resume", "complete", "block"],
    "What is done with the goal",
  ),
  goal,
  roundsStarted: count("Rounds that have begun"),
  createdAt: number("When it was created, in epoch ms"),
  updatedAt: number(
    "When it was changed, in epoch ms; not before it was created",
  ),
}).check((payload) => {
  if (payload.value.updatedAt < payload.value.createdAt)
    refuse(payload, ["updatedAt"], "must not be before data.createdAt");
});

const clear = exact({
  kind,
  version,
  operation: oneOf(["clear"], "There is no goal any more"),
  cleared: exact({ id, revision }, "The goal that is gone"),
  clearedAt: number("When, in epoch ms"),
});

export const goalSchemas = {
  "goal/change": eventOf(
    "anywhere",
    "A goal is created, changed or cleared.",
    z
      .discriminatedUnion("operation", [snapshot, clear])
      .meta({ shape: "object, no other keys" }),
  ),
} as const;
