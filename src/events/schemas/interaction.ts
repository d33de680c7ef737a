/** Data of what a person decides or sets: approvals, policies, modes, commands, feedback. */
import { count, eventOf, flag, oneOf, open, text } from "./fields.ts";

const settingSource = text(
  "`delegation` when it comes from the session that delegated the work",
).optional();

export const interactionSchemas = {
  "approval/asked": eventOf(
    "in a turn",
    "A tool needs a person's approval.",
    open({
      id: text("Identity of the question"),
      toolName: text("Tool that wants to run"),
      callId: text("The call, if there is one").optional(),
      reason: text("Why approval is needed").optional(),
    }),
  ),
  "approval/decided": eventOf(
    "in a turn",
    "The question is answered, or never will be.",
    open({
      id: text("Identity of the question"),
      outcome: oneOf(
        ["allowed-once", "rejected", "cancelled", "unavailable"],
        "The answer",
      ),
    }),
  ),
  "approval/policy": eventOf(
    "anywhere",
    "When to ask is set; the last one counts.",
    open({
      policy: oneOf(["ask", "never"], "Whether approvals are asked for"),
      source: settingSource,
    }),
  ),
  "sandbox/mode": eventOf(
    "anywhere",
    "What tools may touch is set; the last one counts.",
    open({
      mode: oneOf(
        ["read-only", "workspace-write", "danger-full-access"],
        "What tools may touch",
      ),
      source: settingSource,
    }),
  ),
  "permission/preset": eventOf(
    "anywhere",
    "A preset of permissions is chosen; the last one counts.",
    open({ preset: text("Name of the preset") }),
  ),
  "plan/mode": eventOf(
    "anywhere",
    "Planning without acting is switched on or off.",
    open({ active: flag("Whether the model is to plan only") }),
  ),
  "agent-preset/selected": eventOf(
    "anywhere",
    "The composition of the agent is chosen, before the first turn; the last one counts, over the header.",
    open({ agentPreset: text("Name of the composition") }),
  ),
  "command/run": eventOf(
    "anywhere",
    "A slash command begins.",
    open({
      commandId: text("Identity of the run"),
      name: text("Name of the command"),
      args: text("What was typed after the name").optional(),
      source: open({ kind: text("`user`") }, "Who gave it"),
    }),
  ),
  "command/done": eventOf(
    "anywhere",
    "The command is over.",
    open({
      commandId: text("Identity of the run"),
      kind: oneOf(["success", "error"], "How it went"),
      text: text("What it says").optional(),
      sourceEventSeq: count("Seq of the event it brought about").optional(),
    }),
  ),
  "feedback/record": eventOf(
    "anywhere",
    "A person says how the session goes.",
    open({ text: text("What they say") }),
  ),
} as const;
