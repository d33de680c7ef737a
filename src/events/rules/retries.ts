/** Retries of a request inside its step: counted chains, each scheduled retry started once. */
import { member } from "../event.ts";
import { isSeq } from "../json.ts";
import {
  textOf,
  violate,
  type Brackets,
  type RuleEvent,
} from "./rule-event.ts";
import { requireOwnStep } from "./turns.ts";

interface Chain {
  readonly provider: string;
  readonly policyKey: string;
  readonly retryId: string;
  /** Number of the latest retry, and whether it has begun. */
  readonly retry: number;
  readonly isStarted: boolean;
}

export interface RetriesState {
  /** Of the latest request header. */
  readonly provider: string | null;
  /** Of the open step. */
  readonly chains: readonly Chain[];
}

export const initRetries: RetriesState = { provider: null, chains: [] };

/** @throws RuleViolation (rule retry-chain) */
export function applyRetries(
  state: RetriesState,
  event: RuleEvent,
  open: Brackets,
): RetriesState {
  switch (event.type) {
    case "request/header": {
      const provider = member(
        member(member(event.data, "header"), "config"),
        "provider",
      );
      return {
        ...state,
        provider: typeof provider === "string" ? provider : null,
      };
    }
    case "llm/retry":
      requireOwnStep(open, event);
      return schedule(state, event);
    case "llm/retry-started":
      requireOwnStep(open, event);
      return begin(state, event);
    case "step/start":
    case "step/end":
    case "turn/end":
      return { ...state, chains: [] };
    default:
      return state;
  }
}

/** Where an event leaves a chain that it broke a rule of: as if it had been right. */
export function retriesAsNamed(
  state: RetriesState,
  event: RuleEvent,
): RetriesState {
  const [provider, policyKey, retryId] = [
    textOf(event, "provider"),
    textOf(event, "policyKey"),
    textOf(event, "retryId"),
  ];
  const retry = member(event.data, "retry");
  if (event.type === "llm/retry-started") {
    const begun = state.chains.map((known) =>
      known.retryId === retryId ? { ...known, isStarted: true } : known,
    );
    return { ...state, chains: begun };
  }
  if (event.type !== "llm/retry" || !isSeq(retry)) return state;
  const others = state.chains.filter(
    (known) => known.provider !== provider || known.policyKey !== policyKey,
  );
  return {
    ...state,
    chains: [
      ...others,
      { provider, policyKey, retryId, retry, isStarted: false },
    ],
  };
}

function schedule(state: RetriesState, event: RuleEvent): RetriesState {
  const [provider, policyKey, retryId] = [
    "provider",
    "policyKey",
    "retryId",
  ].map((key) => textOf(event, key));
  const retry = member(event.data, "retry");
  if (provider !== state.provider)
    violate(
      "retry-chain",
      "data.provider",
      `must be the provider of the latest request header, ${state.provider ?? "none"}`,
    );
  const chain = state.chains.find(
    (known) => known.provider === provider && known.policyKey === policyKey,
  );
  const due = (chain?.retry ?? 0) + 1;
  if (retry !== due)
    violate(
      "retry-chain",
      "data.retry",
      `is ${JSON.stringify(retry ?? null)}, but retry ${due} comes next`,
    );
  const owner = state.chains.find((known) => known.retryId === retryId);
  if (owner !== chain)
    violate(
      "retry-chain",
      "data.retryId",
      "must stay the same along a chain, and be its own",
    );
  const maxRetries = member(event.data, "maxRetries");
  if (
    member(event.data, "mode") === "normal" &&
    isSeq(maxRetries) &&
    due > maxRetries
  )
    violate("retry-chain", "data.retry", `is beyond maxRetries ${maxRetries}`);
  const others = state.chains.filter((known) => known !== chain);
  const next = {
    provider: provider ?? "",
    policyKey: policyKey ?? "",
    retryId: retryId ?? "",
    retry: due,
    isStarted: false,
  };
  return { ...state, chains: [...others, next] };
}

function begin(state: RetriesState, event: RuleEvent): RetriesState {
  const chain = state.chains.find(
    (known) => known.retryId === textOf(event, "retryId"),
  );
  if (
    chain === undefined ||
    chain.isStarted ||
    member(event.data, "retry") !== chain.retry
  )
    return violate(
      "retry-chain",
      "data.retryId",
      "starts no scheduled retry of this step",
    );
  return {
    ...state,
    chains: state.chains.map((known) =>
      known === chain ? { ...chain, isStarted: true } : known,
    ),
  };
}
