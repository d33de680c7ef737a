/** The read views as they were while a build was live, so that a rollback needs no code of that version. */
import { integer, primaryKey, text } from "drizzle-orm/pg-core";
import { turnlog } from "./turnlog-schema.ts";

export const buildViews = turnlog.table(
  "build_views",
  {
    build: integer("build").notNull(),
    name: text("name").notNull(),
    /** Text of the view's query. */
    definition: text("definition").notNull(),
    /** Comments as JSON text: of the view under the empty name, of columns under theirs. */
    comments: text("comments").notNull(),
  },
  (table) => [
    primaryKey({
      name: "build_views_pkey",
      columns: [table.build, table.name],
    }),
  ],
);
