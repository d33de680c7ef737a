-- Rebuilds: their steps, ranges and builds that are over; which workers run; views as they were, for a rollback.
CREATE TABLE "turnlog"."build_views" (
	"build" integer NOT NULL,
	"name" text NOT NULL,
	"definition" text NOT NULL,
	"comments" text NOT NULL,
	CONSTRAINT "build_views_pkey" PRIMARY KEY("build","name")
);
--> statement-breakpoint
CREATE TABLE "turnlog"."former_builds" (
	"number" integer PRIMARY KEY NOT NULL,
	"projection" text NOT NULL,
	"version" integer NOT NULL,
	"outcome" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone DEFAULT now() NOT NULL,
	"rebuild" integer,
	"has_checkpoints" boolean DEFAULT true NOT NULL,
	CONSTRAINT "former_builds_outcome_check" CHECK ("turnlog"."former_builds"."outcome" in ('cancelled', 'dropped'))
);
--> statement-breakpoint
CREATE TABLE "turnlog"."rebuild_ranges" (
	"rebuild" integer NOT NULL,
	"range" integer NOT NULL,
	"from_id" text collate "C" NOT NULL,
	"until_id" text collate "C",
	"sessions" integer NOT NULL,
	"events" bigint NOT NULL,
	"done_sessions" integer DEFAULT 0 NOT NULL,
	"done_events" bigint DEFAULT 0 NOT NULL,
	"holder" uuid,
	"held_until" timestamp with time zone DEFAULT now() NOT NULL,
	"moved_at" timestamp with time zone,
	"done_at" timestamp with time zone,
	CONSTRAINT "rebuild_ranges_pkey" PRIMARY KEY("rebuild","range")
);
--> statement-breakpoint
CREATE TABLE "turnlog"."rebuilds" (
	"number" integer PRIMARY KEY NOT NULL,
	"step" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"replayed_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"holder" uuid,
	"held_until" timestamp with time zone DEFAULT now() NOT NULL,
	"trouble" text,
	CONSTRAINT "rebuilds_step_check" CHECK ("turnlog"."rebuilds"."step" in ('replaying', 'indexing', 'feeding', 'verifying', 'swapping', 'done', 'cancelled'))
);
--> statement-breakpoint
CREATE TABLE "turnlog"."workers" (
	"worker" uuid NOT NULL,
	"projection" text NOT NULL,
	"version" integer NOT NULL,
	"alive_until" timestamp with time zone NOT NULL,
	CONSTRAINT "workers_pkey" PRIMARY KEY("worker","projection")
);
--> statement-breakpoint
ALTER TABLE "turnlog"."builds" DROP CONSTRAINT "builds_status_check";--> statement-breakpoint
ALTER TABLE "turnlog"."builds" ADD COLUMN "rebuild" integer;--> statement-breakpoint
ALTER TABLE "turnlog"."builds" ADD CONSTRAINT "builds_status_check" CHECK ("turnlog"."builds"."status" in ('building', 'feeding', 'live', 'kept'));
--> statement-breakpoint
-- Its rows are written every few hundred milliseconds while sessions are replayed.
alter table turnlog.rebuild_ranges set (fillfactor = 50);
--> statement-breakpoint
-- As acknowledge_v1, but for kept builds whose version no running worker has: nobody will feed them, and their sessions
-- are put on the work list again before a rollback. Locks: the work row.
create function turnlog.acknowledge_v2(_session_id text, _seen bigint) returns boolean
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
      where c.parked_at is null and c.next_at is null
        and (b.status <> 'kept' or exists (
          select from turnlog.workers k
          where k.projection = b.projection and k.version = b.version and k.alive_until > clock_timestamp())));
  return exists (
    select from turnlog.work w where w.session_id = _session_id and w.next_seq > _seen);
end $$;
--> statement-breakpoint
update turnlog.schema set version = 5;
