/** Data of a title. */
import { z } from "zod";
import {
  count,
  eventOf,
  listOf,
  nonEmptyText,
  oneOf,
  open,
  refuse,
  text,
} from "./fields.ts";

const source = z
  .discriminatedUnion("kind", [
    open({ kind: oneOf(["fallback"], "The first words of the first prompt") }),
    open({
      kind: oneOf(["provider"], "Made by a provider of titles"),
      provider: text("Which one"),
      model: open(
        { provider: text("Provider of the model"), model: text("Model") },
        "The model that was asked, if one was",
      ).optional(),
    }),
    open({ kind: oneOf(["user"], "Given by a person") }),
  ])
  .meta({ description: "Where the title comes from", shape: "object" });

const title = open({
  title: nonEmptyText("The title"),
  messageSeqs: listOf(
    count("A seq"),
    "Seqs of the prompts it is made of; empty exactly when a person gave it",
  ),
  source,
}).check((payload) => {
  const { messageSeqs, source: from } = payload.value;
  const isUser = from.kind === "user";
  if (isUser && messageSeqs.length > 0)
    refuse(payload, ["messageSeqs"], "must be empty when a person gave it");
  if (!isUser && messageSeqs.length === 0)
    refuse(payload, ["messageSeqs"], "must hold a seq unless a person gave it");
});

export const titleSchemas = {
  "session/title": eventOf(
    "anywhere",
    "The session has a title; the last one counts.",
    title,
  ),
} as const;
