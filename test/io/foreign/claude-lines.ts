/** Lines of Claude Code for tests. */

export interface LineFacts {
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly [key: string]: unknown;
}

/** Time of the n-th second of the session. */
export function at(second: number): string {
  return new Date(Date.UTC(2031, 0, 1, 8, 0, second)).toISOString();
}

export function line(type: string, second: number, facts: object): object {
  return {
    type,
    timestamp: at(second),
    sessionId: "0b0e3c9e-6f8e-4b62-a0de-000000000001",
    cwd: "/srv/garden",
    ...facts,
  };
}

export function user(
  second: number,
  content: unknown,
  facts: LineFacts = {},
): object {
  return line("user", second, { ...facts, message: { role: "user", content } });
}

export function result(
  second: number,
  id: string,
  text: string,
  facts: LineFacts = {},
): object {
  const block = { type: "tool_result", tool_use_id: id, content: text };
  return user(second, [block], facts);
}

/** One line of an answer: the message id, its block, why it ended, and its usage. */
export function answer(
  second: number,
  id: string,
  block: object,
  stop: string | null,
  usage: object = { input_tokens: 1, output_tokens: 1 },
  facts: LineFacts = {},
): object {
  return line("assistant", second, {
    ...facts,
    message: {
      id,
      model: "claude-test",
      role: "assistant",
      content: [block],
      stop_reason: stop,
      usage,
    },
  });
}

export const text = (words: string): object => ({ type: "text", text: words });

export const call = (id: string, input: object = {}): object => ({
  type: "tool_use",
  id,
  name: "Bash",
  input,
});
