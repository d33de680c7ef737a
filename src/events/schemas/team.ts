/** Data of the books of a team of agents; kept as they are. */
import { eventOf, open } from "./fields.ts";

export const teamSchemas = {
  "team/member": eventOf("anywhere", "A member of the team changes.", open({})),
  "team/task": eventOf("anywhere", "A task of the team changes.", open({})),
  "team/message/queued": eventOf(
    "anywhere",
    "A message to a member waits for delivery.",
    open({}),
  ),
  "team/message/delivered": eventOf(
    "anywhere",
    "The message is delivered.",
    open({}),
  ),
} as const;
