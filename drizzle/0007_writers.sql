-- A writer's verbs: open a session for writing (and take it over), hold it, let it go. Who writes is a number, the
-- epoch: each opening raises it, and append_v1 refuses the appends of a lower one. Until when a writer counts as alive
-- is kept on the database's clock.

-- Opens a session for a new writer.
--   _take_over  open it though its writer is alive: that one is fenced off
--   _hold_ms    how long the new writer counts as alive; 0 fences the old one off and holds nothing
-- Outcomes: opened (epoch is the new writer's), busy (left_ms: how long its writer counts as alive), deleted, missing.
-- Locks: the session row until commit.
create function turnlog.open_writer_v1(
  _session_id text, _take_over boolean, _hold_ms integer,
  out outcome text, out epoch bigint, out head bigint, out incarnation uuid, out left_ms bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '5s'
as $$
declare
  _session turnlog.sessions;
begin
  update turnlog.sessions s
  set writer_epoch = s.writer_epoch + 1,
      writer_until = case when _hold_ms > 0 then clock_timestamp() + make_interval(secs => _hold_ms / 1000.0) end
  where s.session_id = _session_id
    and s.deleted_at is null
    and (_take_over or s.writer_until is null or s.writer_until <= clock_timestamp())
  returning s.writer_epoch, s.head, s.incarnation into epoch, head, incarnation;
  if found then
    outcome := 'opened';
    return;
  end if;

  select s.* into _session from turnlog.sessions s where s.session_id = _session_id;
  outcome := case
    when _session.session_id is null then 'missing'
    when _session.deleted_at is not null then 'deleted'
    else 'busy' end;
  left_ms := greatest(0, ceil(extract(epoch from _session.writer_until - clock_timestamp()) * 1000));
end $$;
--> statement-breakpoint
-- Says that the writer of this epoch is alive for _hold_ms more. Returns the session's epoch: another one than the
-- caller's means that it is fenced off, null that the session is gone. Locks: the session row until commit.
create function turnlog.hold_writer_v1(
  _session_id text, _incarnation uuid, _epoch bigint, _hold_ms integer) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '5s'
as $$
begin
  update turnlog.sessions s
  set writer_until = greatest(s.writer_until, clock_timestamp() + make_interval(secs => _hold_ms / 1000.0))
  where s.session_id = _session_id
    and s.incarnation = _incarnation
    and s.writer_epoch = _epoch
    and s.deleted_at is null;
  return (
    select s.writer_epoch
    from turnlog.sessions s
    where s.session_id = _session_id and s.incarnation = _incarnation and s.deleted_at is null);
end $$;
--> statement-breakpoint
-- Lets the session go, so that the next writer need not wait; does nothing for a writer that is fenced off.
-- Locks: the session row until commit.
create function turnlog.release_writer_v1(_session_id text, _incarnation uuid, _epoch bigint) returns void
language sql
set search_path = pg_catalog, pg_temp
set lock_timeout = '5s'
as $$
  update turnlog.sessions s
  set writer_until = null
  where s.session_id = _session_id
    and s.incarnation = _incarnation
    and s.writer_epoch = _epoch
$$;
--> statement-breakpoint
-- Locks a session for an append to wherever it ends, inside a transaction of the caller's, whose settings stay as they
-- are. Does nothing where there is no such session. Locks: the session row until the caller's commit.
create function turnlog.lock_session_v1(_session_id text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '5s'
as $$
begin
  perform from turnlog.sessions s where s.session_id = _session_id for no key update;
end $$;
--> statement-breakpoint
update turnlog.schema set version = 3;
