-- The projector's verbs around one session: open it under its locks, and acknowledge what was applied.

-- Called first in the projector's transaction. Takes every build's advisory lock (shared, by number), then the
-- session's lock row (skip locked), and returns one row a build with where it stands. No row: another projector
-- has the session, or no session has this id. Creates missing lock rows and checkpoints.
-- Advisory locks are in the namespace 7486 (two-key form), the second key is the build's number.
--   due  the build may be folded now: neither parked nor waiting after a failure
create function turnlog.open_projection_v1(_session_id text)
returns table (
  incarnation uuid, header text, head bigint, facts_head bigint, redaction_generation integer, deleted boolean,
  build integer, projection text, version integer, due boolean, attempts integer, next_seq bigint, state text,
  checkpoint_incarnation uuid, checkpoint_redaction_generation integer)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  _build integer;
begin
  for _build in select b.number from turnlog.builds b order by b.number loop
    perform pg_advisory_xact_lock_shared(7486, _build);
  end loop;

  perform from turnlog.projection_sessions p where p.session_id = _session_id for update skip locked;
  if not found then
    insert into turnlog.projection_sessions (session_id)
    select s.session_id from turnlog.sessions s where s.session_id = _session_id
    on conflict (session_id) do nothing;
    if not found then
      return;
    end if;
  end if;

  insert into turnlog.checkpoints (session_id, build, next_seq, incarnation, redaction_generation, state)
  select s.session_id, b.number, 0, s.incarnation, s.redaction_generation, ''
  from turnlog.sessions s, turnlog.builds b
  where s.session_id = _session_id
    and not exists (
      select from turnlog.checkpoints c where c.session_id = s.session_id and c.build = b.number)
  on conflict on constraint checkpoints_pkey do nothing;

  return query
  select s.incarnation, s.header, s.head, s.facts_head, s.redaction_generation, s.deleted_at is not null,
         b.number, b.projection, b.version,
         c.parked_at is null and (c.next_at is null or c.next_at <= clock_timestamp()),
         c.attempts, c.next_seq, c.state, c.incarnation, c.redaction_generation
  from turnlog.sessions s
  join turnlog.checkpoints c on c.session_id = s.session_id
  join turnlog.builds b on b.number = c.build
  where s.session_id = _session_id
  order by b.number;
end $$;
--> statement-breakpoint
-- Called after the projector's commit. Deletes the session's work when every build that is neither parked nor
-- waiting after a failure has applied it. Returns true when work has come since _seen was read: ring again.
create function turnlog.acknowledge_v1(_session_id text, _seen bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
begin
  delete from turnlog.work w
  where w.session_id = _session_id
    and w.next_seq <= (
      select coalesce(min(coalesce(c.next_seq, 0)), 9223372036854775807)
      from turnlog.builds b
      left join turnlog.checkpoints c on c.session_id = _session_id and c.build = b.number
      where c.parked_at is null and c.next_at is null);
  return exists (
    select from turnlog.work w where w.session_id = _session_id and w.next_seq > _seen);
end $$;
--> statement-breakpoint
create schema turnlog_read;
--> statement-breakpoint
insert into turnlog.schema (version, min_client_version) values (1, 1);
