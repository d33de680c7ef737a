/** Data of what a delegated session says of itself. */
import type { z } from "zod";
import type { JsonObject } from "../json.ts";
import { eventOf, objectOf, refuse } from "./fields.ts";

/** Version of descriptors that is understood; a descriptor of another one counts as none. */
const VERSION = 2;

/** Checks the mode, and the texts that the mode asks for, of a descriptor of our version. */
function checkDescriptor(payload: z.core.ParsePayload<JsonObject>): void {
  const { version, mode, provider, label } = payload.value;
  if (version !== VERSION) return;
  if (mode !== "one-shot" && mode !== "continuable")
    refuse(payload, ["mode"], 'must be "one-shot" or "continuable"');
  if (typeof provider !== "string")
    refuse(payload, ["provider"], "must be a string");
  const mayLackLabel = mode === "one-shot" && label === undefined;
  if (typeof label !== "string" && !mayLackLabel)
    refuse(payload, ["label"], "must be a string");
}

export const subagentSchemas = {
  "subagent/descriptor": eventOf(
    "anywhere",
    "What this session is to the one that delegated to it; the first one counts.",
    objectOf<JsonObject>("The descriptor", [
      ["version", "`2`", "Another version counts as no descriptor"],
      [
        "mode",
        "`one-shot`, `continuable`",
        "Whether it takes more input later",
      ],
      ["provider", "string", "What created it"],
      ["label?", "string", "What it is for; always there when continuable"],
      ["agentProvider?", "not checked", "Provider of its model"],
      ["agentModel?", "not checked", "Its model"],
      ["persona?", "not checked", "Who it is to be"],
      ["toolFilter?", "not checked", "Tools it has: `allow`, `deny`"],
    ]).check(checkDescriptor),
  ),
} as const;
