/**
 * The title to show for a session: the one in the log, else one made of the first prompt that came to something, else
 * one made of a command's arguments. What the log says is a column of its own.
 */
import { member } from "../../events/event.ts";
import type { JsonValue } from "../../events/json.ts";
import { textOfContent } from "../../events/text.ts";
import type { Title } from "../../events/title.ts";
import { displayTitle, fallbackTitle } from "../../events/title-text.ts";
import type { ProjectedEvent } from "../../projector/projection.ts";

export interface TitleCandidates {
  /** Made of a prompt; null before the first that says anything. */
  readonly prompt: string | null;
  /** Whether the turn of that prompt is open, went well, or was cut off: then the next prompt takes its place. */
  readonly standing: "open" | "kept" | "weak";
  /** Made of the arguments of the first command that has any. */
  readonly command: string | null;
}

export const initCandidates: TitleCandidates = {
  prompt: null,
  standing: "weak",
  command: null,
};

export function applyCandidates(
  state: TitleCandidates,
  event: ProjectedEvent,
): TitleCandidates {
  switch (event.type) {
    case "user/message":
      return isHumanPrompt(event) && state.standing === "weak"
        ? withPrompt(state, member(event.data, "content"))
        : state;
    case "command/run": {
      const args = member(event.data, "args");
      return state.command === null && typeof args === "string"
        ? { ...state, command: fallbackTitle(args) }
        : state;
    }
    case "turn/end":
      return state.standing === "open"
        ? { ...state, standing: standingAfter(event.data) }
        : state;
    default:
      return state;
  }
}

/** Null where nothing that anybody said makes a title. */
export function titleToShow(
  title: Title | null,
  candidates: TitleCandidates,
): string | null {
  const given = title === null ? null : displayTitle(title.title);
  return given ?? candidates.prompt ?? candidates.command;
}

/** True for what a person said, and not for what took the place of it later. */
export function isHumanPrompt(event: ProjectedEvent): boolean {
  const kind = member(member(event.data, "source"), "kind");
  return kind === "user" && event.surfaceOp === "append";
}

function withPrompt(
  state: TitleCandidates,
  content: JsonValue | undefined,
): TitleCandidates {
  const prompt = fallbackTitle(textOfContent(content));
  return prompt === null ? state : { ...state, prompt, standing: "open" };
}

function standingAfter(data: JsonValue): "kept" | "weak" {
  const kind = member(member(data, "reason"), "kind");
  return kind === "aborted" || kind === "interrupted" ? "weak" : "kept";
}
