/** Lines of Codex rollouts for tests. */

/** Time of the n-th second of the session. */
export function at(second: number): string {
  return new Date(Date.UTC(2031, 0, 1, 8, 0, second)).toISOString();
}

function line(type: string, second: number, payload: object): object {
  return { timestamp: at(second), type, payload };
}

export function meta(id: string, facts: object = {}, second = 0): object {
  const timestamp = at(second);
  return line("session_meta", second, {
    id,
    timestamp,
    cwd: "/srv/garden",
    ...facts,
  });
}

export function context(second: number, facts: object = {}): object {
  return line("turn_context", second, {
    model: "gpt-test",
    effort: "high",
    ...facts,
  });
}

export function item(second: number, type: string, facts: object): object {
  return line("response_item", second, { type, ...facts });
}

export function event(
  second: number,
  type: string,
  facts: object = {},
): object {
  return line("event_msg", second, { type, ...facts });
}

export function said(second: number, role: string, text: string): object {
  const type = role === "assistant" ? "output_text" : "input_text";
  return item(second, "message", { role, content: [{ type, text }] });
}

export function called(second: number, id: string): object {
  return item(second, "function_call", {
    call_id: id,
    name: "shell",
    arguments: "{}",
  });
}

export function returned(second: number, id: string, output: unknown): object {
  return item(second, "function_call_output", { call_id: id, output });
}

/** Counts in the order input, cached, output, reasoning. */
export type Counts = readonly [number, number, number, number];

/** A report of the counter so far, and of the request before it. */
export function tokens(
  second: number,
  total: Counts,
  last: Counts | null = null,
): object {
  const info = {
    total_token_usage: counts(total),
    ...(last === null ? {} : { last_token_usage: counts(last) }),
    model_context_window: 272_000,
  };
  return event(second, "token_count", { info });
}

function counts([input, cached, output, reasoning]: Counts): object {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  };
}
