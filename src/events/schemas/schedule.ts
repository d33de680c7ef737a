/** Data of changes of the schedule: work that begins by itself later. */
import { eventOf, open } from "./fields.ts";

export const scheduleSchemas = {
  "schedule/change": eventOf(
    "anywhere",
    "An entry of the schedule (`after`, `at` or `every`) is created, deleted or dispatched.",
    open({}),
  ),
} as const;
