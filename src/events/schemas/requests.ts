/** Data of the events around a model request: what it carries, where it goes, and that it is tried again. */
import type { JsonObject, JsonValue } from "../json.ts";
import {
  count,
  eventOf,
  json,
  listOf,
  number,
  objectOf,
  oneOf,
  open,
  ordinal,
  refuse,
  step,
  text,
  turn,
} from "./fields.ts";

/** What a request carries beside its messages; message-shapes.ts checks it. */
export interface RequestHeader {
  readonly config: JsonObject & {
    readonly provider: string;
    readonly model: string;
  };
  readonly adapterDefaults?: JsonObject;
  /** Not checked, nor is any other key. */
  readonly system?: JsonValue;
  /** Not checked. */
  readonly tools?: JsonValue;
}

const MAX_DELAY_MS = 2_147_483_647;

const retryId = text("Identity of a chain of retries");
const retry = ordinal(
  "How many retries in this step, at this provider and under this policy, with this one",
);

const llmRetry = open({
  retryId,
  turn,
  step,
  provider: text("Provider of the request"),
  mode: oneOf(
    ["normal", "always"],
    "Whether the number of retries has a limit: `always` has none",
  ),
  policyKey: text("Which retry policy applies"),
  retry,
  maxRetries: number(
    "Most retries of the policy; in mode `normal` only",
  ).optional(),
  delayMs: number("How long until the retry, in ms")
    .refine(
      (value) => value >= 0 && value <= MAX_DELAY_MS,
      `must be from 0 to ${MAX_DELAY_MS}`,
    )
    .meta({ shape: `number from 0 to ${MAX_DELAY_MS}` }),
  failure: objectOf<JsonObject>("What went wrong", [
    ["message", "string", "What went wrong, in words"],
    ["code", "string", "Stable name of what went wrong"],
    ["status", "number", "HTTP status"],
    ["providerRetryAfterMs", "number", "Wait the provider asks for, in ms"],
    ["requestId", "string", "Id of the request at the provider"],
  ]),
}).check((payload) => {
  const { mode, maxRetries } = payload.value;
  if (mode !== "normal" && maxRetries !== undefined)
    refuse(payload, ["maxRetries"], `must be absent in mode ${mode}`);
});

export const requestSchemas = {
  "request/header": eventOf(
    "in a turn",
    "The first request of a process, or one that carries something else than the request before.",
    open({
      header: objectOf<RequestHeader>(
        "All that the request carries beside its messages",
        [
          ["config.provider", "non-empty string", "Provider"],
          ["config.model", "non-empty string", "Model"],
          ["config.reasoningEffort?", "non-empty string", "How much to reason"],
          ["config.temperature?", "not checked", "Temperature"],
          ["config.maxTokens?", "not checked", "Most tokens of the answer"],
          ["config.stop?", "not checked", "Texts that end the answer"],
          [
            "adapterDefaults?",
            "object",
            "Which of `reasoningEffort` and `maxTokens` the adapter set: each `true`",
          ],
          ["system?", "not checked", "System prompt"],
          ["tools?", "not checked", "Tools the model may call"],
        ],
      ),
      reason: oneOf(
        ["initial", "resume", "change"],
        "`initial`: the first of the log; `resume`: the first of a process; `change`: it differs from the last",
      ),
    }),
  ),
  "request/context": eventOf(
    "in a turn",
    "The capacity of the model in use, when it is new or has changed.",
    open({
      provider: text("Provider"),
      model: text("Model"),
      contextWindow: number(
        "Tokens that fit in the model's context; absent: unknown, also if it was known before",
      ).optional(),
    }),
  ),
  "llm/retry": eventOf(
    "in its step",
    "An attempt failed and will be repeated in the same step.",
    llmRetry,
  ),
  "llm/retry-started": eventOf(
    "in its step",
    "The wait is over and the attempt begins.",
    open({ retryId, turn, step, retry }),
  ),
  "web/deepseek-search-llm-request": eventOf(
    "in a turn",
    "A web search asks a model: the request exactly as it was sent.",
    open({
      endpoint: text("URL of the request"),
      apiVersion: text("Version of the interface"),
      body: json("Body of the request"),
    }),
  ),
  "session/title-llm-request": eventOf(
    "anywhere",
    "A model is asked for a title: the request exactly as it was sent, also when no title comes of it.",
    open({
      titleProvider: text("Which provider of titles asks"),
      messageSeqs: listOf(count("A seq"), "Seqs of the prompts it is made of"),
      route: open(
        {
          provider: text("Provider"),
          model: text("Model"),
        },
        "Where the request goes",
      ),
      system: text("System prompt"),
      messages: listOf(json("A message"), "Messages of the request"),
      maxTokens: number("Most tokens of the answer"),
    }),
  ),
} as const;
