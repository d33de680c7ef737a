/** Grants go from a build to its successor, and from a view to the one that takes its name. */
import type { Queryable } from "../db/connect.ts";
import { buildSchema } from "../projector/open-session.ts";

/** Gives a new build's schema and tables the grants that those of another build have under the same names. */
export async function copyGrants(
  db: Queryable,
  from: number,
  to: number,
): Promise<void> {
  const statements = await db.rows<{ text: string }>(
    {
      text: `
        select format('grant %s on schema %I to %s%s', a.privilege_type, $2::text,
                      case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end,
                      case when a.is_grantable then ' with grant option' else '' end) as text
        from pg_namespace n, aclexplode(n.nspacl) a
        where n.nspname = $1 and a.grantee <> n.nspowner
        union all
        select format('grant %s on table %I.%I to %s%s', a.privilege_type, $2::text, c.relname,
                      case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end,
                      case when a.is_grantable then ' with grant option' else '' end)
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace, aclexplode(c.relacl) a
        where n.nspname = $1 and c.relkind = 'r' and a.grantee <> c.relowner
          and to_regclass(format('%I.%I', $2::text, c.relname)) is not null`,
    },
    [buildSchema(from), buildSchema(to)],
  );
  for (const { text } of statements) await db.rows({ text });
}

export interface ViewGrant {
  readonly text: string;
  /** Null for the view as a whole. */
  readonly column_name: string | null;
}

/** Statements that give a view of this name the owner, settings and grants that it has now. */
export function readViewGrants(
  db: Queryable,
  view: string,
): Promise<ViewGrant[]> {
  return db.rows<ViewGrant>(
    {
      text: `
        with v as (
          select c.oid, c.relacl, c.relowner, c.reloptions, format('turnlog_read.%I', c.relname) as name
          from pg_class c
          join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'turnlog_read' and c.relname = $1 and c.relkind = 'v'
        ), granted as (
          select v.name, a.privilege_type, a.grantee, a.is_grantable, null::name as column_name
          from v, aclexplode(v.relacl) a
          where a.grantee <> v.relowner
          union all
          select v.name, a.privilege_type, a.grantee, a.is_grantable, t.attname
          from v
          join pg_attribute t on t.attrelid = v.oid and not t.attisdropped, aclexplode(t.attacl) a
        )
        select format('alter view %s owner to %I', v.name, pg_get_userbyid(v.relowner)) as text, null as column_name from v
        union all
        select format('alter view %s set (%s)', v.name, array_to_string(v.reloptions, ', ')), null from v where v.reloptions is not null
        union all
        select format('grant %s%s on %s to %s%s', g.privilege_type,
                      case when g.column_name is null then '' else format(' (%I)', g.column_name) end, g.name,
                      case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end,
                      case when g.is_grantable then ' with grant option' else '' end), g.column_name
        from granted g`,
    },
    [view],
  );
}
