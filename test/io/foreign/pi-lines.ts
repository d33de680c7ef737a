/** Lines of pi transcripts for tests. */

/** Time of the n-th second of the session. */
export const at = (second: number): string =>
  new Date(Date.UTC(2031, 0, 1, 8, 0, second)).toISOString();

export const piSession = (facts: object = {}, second = 0): object => ({
  type: "session",
  id: "p1",
  timestamp: at(second),
  cwd: "/srv/garden",
  provider: "anthropic",
  modelId: "claude-test",
  thinkingLevel: "off",
  ...facts,
});
export const piEntry = (
  second: number,
  type: string,
  facts: object,
): object => ({
  type,
  timestamp: at(second),
  ...facts,
});
export const piMessage = (
  second: number,
  role: string,
  facts: object,
): object => piEntry(second, "message", { message: { role, ...facts } });
export const piText = (words: string): object => ({
  type: "text",
  text: words,
});
export const piUser = (second: number, words: string): object =>
  piMessage(second, "user", { content: [piText(words)] });
const usage = {
  input: 5,
  output: 7,
  cacheRead: 100,
  cacheWrite: 20,
  totalTokens: 132,
};
export const piAnswer = (
  second: number,
  stopReason: string,
  content: readonly object[],
  facts: object = {},
): object =>
  piMessage(second, "assistant", {
    content,
    provider: "anthropic",
    model: "claude-test",
    usage,
    stopReason,
    ...facts,
  });
export const piCall = (id: string): object => ({
  type: "toolCall",
  id,
  name: "bash",
  arguments: { command: "ls" },
});
export const piResult = (
  second: number,
  toolCallId: string,
  words: string,
  facts: object = {},
): object =>
  piMessage(second, "toolResult", {
    toolCallId,
    content: [piText(words)],
    isError: false,
    ...facts,
  });
