/** Tells what a person typed from what a harness put into a user message: its wrappers are known by how they begin. */
import { textsOf, type Block } from "./blocks.ts";

const TAGS = [
  // Claude Code
  "bash-input",
  "bash-stderr",
  "bash-stdout",
  "command-args",
  "command-message",
  "command-name",
  "local-command-caveat",
  "local-command-stderr",
  "local-command-stdout",
  "system-reminder",
  "task-notification",
  "user-memory-input",
  // Codex
  "app-context",
  "collaboration_mode",
  "environment_context",
  "permissions",
  "subagent_notification",
  "turn_aborted",
  "user_action",
  "user_instructions",
  "user_shell_command",
  // pi, Codex
  "skill",
];

const WRAPPER = new RegExp(
  String.raw`^\s*(?:<(?:${TAGS.join("|")})[\s>]|Caveat: The messages below|\[Request interrupted by user|# AGENTS\.md instructions)`,
);

/** False when all text of a message is a harness' own. */
export function isTyped(blocks: readonly Block[]): boolean {
  const texts = textsOf(blocks);
  return texts.length === 0 || texts.some((text) => !WRAPPER.test(text));
}
