/** A turn: a prompt is taken from the queue, and steps follow until a request calls no tool. */
import type { SessionEvent } from "../../src/events/event.ts";
import { MODEL, PROVIDER } from "./answer.ts";
import type { Random } from "./random.ts";
import { CONTEXT_WINDOW, writeRequest, type Log } from "./request.ts";
import { sentence } from "./texts.ts";

export function* writeTurn(log: Log, turn: number): Generator<SessionEvent> {
  const { pen, random } = log;
  const prompt = userMessage(random, "user", random.logNormal(30, 1, 600));
  const target = "next-turn";
  const thinksMs = random.logNormal(45_000, 1, 3_600_000);
  yield pen.write(
    "agent/inbox/spliced",
    { target, start: 0, inserted: [prompt] },
    thinksMs,
  );
  yield pen.write("turn/start", { turn });
  yield pen.write("agent/inbox/spliced", {
    target,
    start: 0,
    removedCount: 1,
    inserted: [],
  });
  const steps = random.logNormal(13, 0.5, 60);
  for (let step = 1; step <= steps; step += 1) {
    yield pen.write("step/start", { turn, step }, 1);
    if (step === 1) yield* writeInput(log, turn, prompt);
    yield* writeRequest(log, { turn, step }, step === steps);
    yield pen.write("step/end", { turn, step });
  }
  yield pen.write("turn/end", { turn, reason: { kind: "completed" } });
}

/** The prompt, what the harness adds, a title now and then, and in the first turn what requests carry. */
function* writeInput(
  { pen, random }: Log,
  turn: number,
  prompt: UserMessageData,
): Generator<SessionEvent> {
  const promptSeq = pen.nextSeq;
  yield pen.writeMessage("user/message", prompt);
  if (turn === 1 || random.chance(0.25))
    yield pen.writeMessage("user/message", userMessage(random, "plugin", 110));
  if (turn === 1 || random.chance(0.1))
    yield pen.write("session/title", {
      title: sentence(random, random.between(3, 8)),
      messageSeqs: [promptSeq],
      source:
        turn === 1
          ? { kind: "fallback" }
          : { kind: "provider", provider: "titles" },
    });
  if (turn !== 1) return;
  const header = {
    config: { provider: PROVIDER, model: MODEL, maxTokens: 32_000 },
    system: sentence(random, 700),
    tools: [],
  };
  yield pen.write("request/header", { header, reason: "initial" });
  yield pen.write("request/context", {
    provider: PROVIDER,
    model: MODEL,
    contextWindow: CONTEXT_WINDOW,
  });
}

type UserMessageData = ReturnType<typeof userMessage>;

function userMessage(random: Random, kind: string, words: number) {
  return {
    content: [{ type: "text", text: sentence(random, words) }],
    source: { kind },
    role: "user",
    id: random.uuid(),
  };
}
