-- The relay's verbs: lead (take or keep the lease), drain (outbox to feed and work), sweep (what nobody rang for).
-- Each is one call and one transaction; none ever waits on a client.

insert into turnlog.lease (lane) values (0);
--> statement-breakpoint
alter table turnlog.lease set (fillfactor = 10);
--> statement-breakpoint
alter table turnlog.work set (fillfactor = 50);
--> statement-breakpoint
-- Takes the lease when it is free, run out or already mine, and returns the fence to drain with; null when
-- another relay leads. Locks: the lease row.
create function turnlog.lead_v1(_holder uuid, _ttl_ms integer) returns bigint
language sql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
  update turnlog.lease l
  set holder = _holder,
      fence = case when l.holder = _holder then l.fence else l.fence + 1 end,
      until = clock_timestamp() + make_interval(secs => _ttl_ms / 1000.0)
  where l.lane = 0
    and (l.holder is null or l.holder = _holder or l.until <= clock_timestamp())
  returning l.fence
$$;
--> statement-breakpoint
-- Moves up to _limit appends (the oldest, and every earlier one of each session it picks) from the outbox to the
-- feed, giving them the next positions in (session, first seq) order, and marks the sessions with facts as work.
-- drained is null when the lease is no longer the caller's: then nothing was done.
--   session_ids  sessions to ring for
-- Locks, in order: lease row, outbox rows, feed, lock rows, work rows (by session id).
--
-- floor_id: outbox ids at or below it are drained or dead, so the scan starts above them instead of reading dead
-- rows again. It rises in three drains. One notes the highest id it picked (next_floor_id). A later one notes its own
-- transaction id (next_floor_xid): every transaction that was given a lower outbox id had its transaction id before
-- that. When no transaction up to it runs any more, a drain that takes all there is makes the noted id the floor.
-- A transaction id ahead of the server's comes from a restored copy, and is noted anew.
create function turnlog.drain_v1(
  _holder uuid, _fence bigint, _limit integer, _ttl_ms integer,
  out drained integer, out last_position bigint, out session_ids text[])
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  _lease turnlog.lease;
  _snapshot pg_snapshot := pg_current_snapshot();
  _settled boolean;
  _restored boolean;
  _top_id bigint;
begin
  select l.* into _lease
  from turnlog.lease l
  where l.lane = 0 and l.holder = _holder and l.fence = _fence
  for update;
  if not found then
    return;
  end if;

  _settled := _lease.next_floor_xid > 0
    and pg_snapshot_xmin(_snapshot)::text::bigint > _lease.next_floor_xid;
  _restored := pg_snapshot_xmax(_snapshot)::text::bigint < _lease.next_floor_xid;

  with oldest as (
    select o.session_id, o.first_seq
    from turnlog.outbox o
    where o.id > _lease.floor_id
    order by o.id
    limit _limit
  ), upto as (
    select o.session_id, max(o.first_seq) as first_seq from oldest o group by o.session_id
  ), picked as (
    delete from turnlog.outbox o
    using upto u
    where o.session_id = u.session_id and o.first_seq <= u.first_seq
    returning o.id, o.session_id, o.first_seq, o.next_seq, o.facts_next_seq, o.incarnation
  ), fed as (
    insert into turnlog.feed (lane, position, session_id, first_seq, next_seq, incarnation, has_facts)
    select 0, _lease.last_position + row_number() over (order by p.session_id, p.first_seq),
           p.session_id, p.first_seq, p.next_seq, p.incarnation, p.facts_next_seq is not null
    from picked p
  ), behind as (
    select p.session_id, max(p.facts_next_seq) as next_seq
    from picked p
    where p.facts_next_seq is not null
    group by p.session_id
  ), locks as (
    insert into turnlog.projection_sessions (session_id)
    select b.session_id from behind b order by b.session_id
    on conflict (session_id) do nothing
  ), marked as (
    insert into turnlog.work as w (session_id, next_seq, ring_at, claimed_until)
    select b.session_id, b.next_seq, clock_timestamp() + interval '2 seconds', clock_timestamp()
    from behind b
    order by b.session_id
    on conflict (session_id) do update
    set next_seq = greatest(w.next_seq, excluded.next_seq), ring_at = excluded.ring_at, rings = 0
  )
  select count(*), coalesce(max(p.id), 0), (select array_agg(b.session_id order by b.session_id) from behind b)
  into drained, _top_id, session_ids
  from picked p;

  last_position := _lease.last_position + drained;
  session_ids := coalesce(session_ids, '{}');
  if drained = 0 and _lease.next_floor_id = _lease.floor_id
     and _lease.until > clock_timestamp() + make_interval(secs => _ttl_ms / 2000.0) then
    return;
  end if;

  if _settled and drained < _limit then
    _lease.floor_id := _lease.next_floor_id;
    _lease.next_floor_xid := 0;
  end if;
  if _lease.next_floor_id = _lease.floor_id then
    _lease.next_floor_id := greatest(_lease.floor_id, _top_id);
  elsif _lease.next_floor_xid = 0 or _restored then
    _lease.next_floor_xid := pg_current_xact_id()::text::bigint;
  end if;

  update turnlog.lease l
  set last_position = drain_v1.last_position,
      until = clock_timestamp() + make_interval(secs => _ttl_ms / 1000.0),
      floor_id = _lease.floor_id,
      next_floor_id = _lease.next_floor_id,
      next_floor_xid = _lease.next_floor_xid
  where l.lane = 0;
end $$;
--> statement-breakpoint
-- Sessions to ring for because nobody seems to have come: work past its time, oldest first, each time with twice
-- the pause (2 s to 64 s), and failed folds whose pause is over. Locks: checkpoints, then work, skip locked.
create function turnlog.sweep_v1(_limit integer) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
begin
  insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
  select due.session_id, s.facts_head, clock_timestamp(), clock_timestamp()
  from (
    select distinct d.session_id
    from (
      select c.session_id
      from turnlog.checkpoints c
      where c.next_at <= clock_timestamp()
      order by c.next_at
      limit _limit
      for update skip locked
    ) d
  ) due
  join turnlog.sessions s on s.session_id = due.session_id
  order by due.session_id
  on conflict (session_id) do nothing;

  return query
  update turnlog.work w
  set ring_at = clock_timestamp() + make_interval(secs => 2 ^ least(w.rings + 1, 6)), rings = w.rings + 1
  where w.session_id in (
      select o.session_id
      from turnlog.work o
      where o.ring_at <= clock_timestamp()
      order by o.ring_at
      limit _limit
      for update skip locked)
    and w.ring_at <= clock_timestamp()
  returning w.session_id;
end $$;
