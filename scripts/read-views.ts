/** Every read view with its columns: names and types as the drizzle relations say, meanings as the definitions do. */
import { getViewConfig, PgColumn } from "drizzle-orm/pg-core";
import { storeViews } from "../src/builds/store-views.ts";
import { builtInProjections } from "../src/projections/registry.ts";
import * as relations from "../src/query/views.ts";

export interface DocumentedView {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly DocumentedColumn[];
}

export interface DocumentedColumn {
  readonly name: string;
  /** As Postgres names it. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly meaning: string;
}

export function documentedViews(): readonly DocumentedView[] {
  const views = [
    ...builtInProjections.flatMap((projection) => projection.views),
    ...storeViews,
  ];
  return views.map(({ name, about = "", columns = {} }) => ({
    name,
    about,
    columns: columnsOf(name).map((column) => ({
      name: column.name,
      type: column.getSQLType(),
      isNullable: !column.notNull,
      meaning: columns[column.name] ?? "",
    })),
  }));
}

function columnsOf(name: string): readonly PgColumn[] {
  const relation = Object.values(relations)
    .map(getViewConfig)
    .find((config) => config.name === name);
  return Object.values(relation?.selectedFields ?? {}).filter(
    (field) => field instanceof PgColumn,
  );
}
