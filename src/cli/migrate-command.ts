/** `turnlog migrate`: brings a database up to date. */
import { pendingMigrations } from "../db/migrate.ts";
import { openContext, prepare, type CommonOptions } from "./context.ts";
import { printJson } from "./output.ts";

export interface MigrateOptions extends CommonOptions {
  /** Print the SQL instead of running it. */
  readonly dryRun?: boolean;
}

export async function migrateCommand(options: MigrateOptions): Promise<number> {
  await using context = await openContext(options, { schema: false });
  if (options.dryRun === true) {
    const pending = await pendingMigrations(context.db);
    if (options.json === true) printJson({ pending });
    else
      console.log(
        pending.length === 0 ? "-- nothing to apply" : pending.join("\n"),
      );
    return 0;
  }
  const { applied, built } = await prepare(context.db, context.projections);
  if (options.json === true) printJson({ applied, built });
  else {
    console.log(
      applied === 0
        ? "The schema is up to date."
        : `${applied} migrations applied.`,
    );
    if (built.length > 0) console.log(`New read tables: ${built.join(", ")}.`);
  }
  return 0;
}
