-- When the fold of a session began to fail, how long an append has waited for the relay, and events that a build passes over.
CREATE TABLE "turnlog"."skipped_events" (
	"session_id" text collate "C" NOT NULL,
	"build" integer NOT NULL,
	"incarnation" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"error_code" text NOT NULL,
	"skipped_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "skipped_events_pkey" PRIMARY KEY("session_id","build","incarnation","seq")
);
--> statement-breakpoint
ALTER TABLE "turnlog"."checkpoints" ADD COLUMN "failed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "turnlog"."outbox" ADD COLUMN "since" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
-- The reconciler's step: looks at up to _limit sessions after _after, by session id, and puts those on the work list
-- whose builds are behind though neither outbox nor work list knows of them (a row was deleted by hand, a restore).
-- Builds that are still being built are left to whoever builds them. next_after is null when the last session was seen.
-- Locks, in order: lock rows, work, both by session id.
create function turnlog.reconcile_v1(
  _after text, _limit integer, out next_after text, out session_ids text[])
language sql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
  with page as materialized (
    select s.session_id, s.incarnation, s.redaction_generation, s.facts_head, s.deleted_at
    from turnlog.sessions s
    where s.session_id > _after collate "C"
    order by s.session_id
    limit _limit
  ), behind as materialized (
    select p.session_id, p.facts_head
    from page p
    where p.facts_head > 0 and p.deleted_at is null
      and exists (
        select from turnlog.builds b
        left join turnlog.checkpoints c on c.session_id = p.session_id and c.build = b.number
        where b.status <> 'building'
          and c.parked_at is null and c.next_at is null
          and (c.next_seq is null or c.next_seq < p.facts_head
               or c.incarnation <> p.incarnation or c.redaction_generation <> p.redaction_generation))
      and not exists (select from turnlog.outbox o where o.session_id = p.session_id)
      and not exists (select from turnlog.work w where w.session_id = p.session_id)
  ), locks as (
    insert into turnlog.projection_sessions (session_id)
    select b.session_id from behind b order by b.session_id
    on conflict (session_id) do nothing
  ), marked as (
    insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
    select b.session_id, b.facts_head, clock_timestamp() + interval '2 seconds', clock_timestamp()
    from behind b
    order by b.session_id
    on conflict (session_id) do nothing
  )
  select (select case when count(*) = _limit then max(p.session_id) end from page p),
         coalesce((select array_agg(b.session_id order by b.session_id) from behind b), '{}')
$$;
--> statement-breakpoint
-- Lets a build try a session again that it gave up or waits for, as if it had never failed there. False when it has
-- not failed there. Locks, in order, until the commit: the session's lock row (waits for a projector that has it), the
-- checkpoint, the work row.
create function turnlog.retry_parked_v1(_session_id text, _build integer) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '10s'
as $$
begin
  perform from turnlog.projection_sessions p where p.session_id = _session_id for update;
  update turnlog.checkpoints c
  set parked_at = null, next_at = null, attempts = 0, error_code = null, error_seq = null
  where c.session_id = _session_id and c.build = _build
    and (c.parked_at is not null or c.next_at is not null);
  if not found then
    return false;
  end if;
  insert into turnlog.work as w (session_id, next_seq, ring_at, claimed_until)
  select s.session_id, s.facts_head, clock_timestamp(), clock_timestamp()
  from turnlog.sessions s
  where s.session_id = _session_id
  on conflict (session_id) do update
  set next_seq = greatest(w.next_seq, excluded.next_seq), ring_at = excluded.ring_at, rings = 0,
      claimed_until = excluded.claimed_until;
  return true;
end $$;
--> statement-breakpoint
-- Has a build pass over the event it failed at, for good, and try the session again. False when it has not failed at
-- that event. Locks: those of retry_parked_v1.
create function turnlog.skip_parked_v1(_session_id text, _build integer, _seq bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '10s'
as $$
begin
  perform from turnlog.projection_sessions p where p.session_id = _session_id for update;
  insert into turnlog.skipped_events (session_id, build, incarnation, seq, error_code)
  select c.session_id, c.build, s.incarnation, c.error_seq, c.error_code
  from turnlog.checkpoints c
  join turnlog.sessions s on s.session_id = c.session_id
  where c.session_id = _session_id and c.build = _build and c.error_seq = _seq
    and (c.parked_at is not null or c.next_at is not null)
  on conflict on constraint skipped_events_pkey do nothing;
  if not found then
    return false;
  end if;
  return turnlog.retry_parked_v1(_session_id, _build);
end $$;
--> statement-breakpoint
update turnlog.schema set version = 4;
