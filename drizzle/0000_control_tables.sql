CREATE SCHEMA "turnlog";
--> statement-breakpoint
CREATE TABLE "turnlog"."builds" (
	"number" integer PRIMARY KEY NOT NULL,
	"projection" text NOT NULL,
	"version" integer NOT NULL,
	"status" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"live_at" timestamp with time zone,
	CONSTRAINT "builds_status_check" CHECK ("turnlog"."builds"."status" in ('building', 'live'))
);
--> statement-breakpoint
CREATE TABLE "turnlog"."checkpoints" (
	"next_seq" bigint NOT NULL,
	"incarnation" uuid NOT NULL,
	"build" integer NOT NULL,
	"redaction_generation" integer NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"error_seq" bigint,
	"next_at" timestamp with time zone,
	"parked_at" timestamp with time zone,
	"session_id" text collate "C" NOT NULL,
	"error_code" text,
	"state" text NOT NULL,
	CONSTRAINT "checkpoints_pkey" PRIMARY KEY("session_id","build")
);
--> statement-breakpoint
CREATE TABLE "turnlog"."event_types" (
	"type" text collate "C" PRIMARY KEY NOT NULL,
	"description" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "turnlog"."events" (
	"seq" bigint NOT NULL,
	"time_ms" bigint NOT NULL,
	"turn" bigint,
	"step" bigint,
	"event_count" integer NOT NULL,
	"append_events" integer,
	"ignorable" boolean NOT NULL,
	"session_id" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"append_id" uuid,
	"append_digest" "bytea",
	"surface_op" text,
	"source_event_seqs" text,
	"key_order" text,
	"payload" text NOT NULL,
	CONSTRAINT "events_pkey" PRIMARY KEY("session_id","seq")
);
--> statement-breakpoint
CREATE TABLE "turnlog"."feed" (
	"position" bigint NOT NULL,
	"first_seq" bigint NOT NULL,
	"next_seq" bigint NOT NULL,
	"incarnation" uuid NOT NULL,
	"lane" integer NOT NULL,
	"has_facts" boolean NOT NULL,
	"session_id" text collate "C" NOT NULL,
	CONSTRAINT "feed_pkey" PRIMARY KEY("lane","position")
);
--> statement-breakpoint
CREATE TABLE "turnlog"."lease" (
	"lane" integer PRIMARY KEY NOT NULL,
	"holder" uuid,
	"fence" bigint DEFAULT 0 NOT NULL,
	"until" timestamp with time zone DEFAULT now() NOT NULL,
	"last_position" bigint DEFAULT 0 NOT NULL,
	"floor_id" bigint DEFAULT 0 NOT NULL,
	"next_floor_id" bigint DEFAULT 0 NOT NULL,
	"next_floor_xid" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "turnlog"."outbox" (
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "turnlog"."outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"first_seq" bigint NOT NULL,
	"next_seq" bigint NOT NULL,
	"incarnation" uuid NOT NULL,
	"facts_next_seq" bigint,
	"session_id" text collate "C" NOT NULL,
	CONSTRAINT "outbox_pkey" PRIMARY KEY("session_id","first_seq")
);
--> statement-breakpoint
CREATE TABLE "turnlog"."projection_sessions" (
	"session_id" text collate "C" PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "turnlog"."schema" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"version" integer NOT NULL,
	"min_client_version" integer NOT NULL,
	"store_id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "schema_only_check" CHECK ("turnlog"."schema"."only")
);
--> statement-breakpoint
CREATE TABLE "turnlog"."sessions" (
	"session_id" text collate "C" PRIMARY KEY NOT NULL,
	"incarnation" uuid NOT NULL,
	"head" bigint NOT NULL,
	"facts_head" bigint NOT NULL,
	"writer_epoch" bigint DEFAULT 0 NOT NULL,
	"writer_until" timestamp with time zone,
	"redaction_generation" integer DEFAULT 0 NOT NULL,
	"rules_version" integer NOT NULL,
	"state" text NOT NULL,
	"header" text NOT NULL,
	"tenant" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "turnlog"."work" (
	"session_id" text collate "C" PRIMARY KEY NOT NULL,
	"next_seq" bigint NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	"ring_at" timestamp with time zone NOT NULL,
	"rings" integer DEFAULT 0 NOT NULL,
	"claimed_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "builds_projection_live_idx" ON "turnlog"."builds" USING btree ("projection") WHERE "turnlog"."builds"."status" = 'live';--> statement-breakpoint
CREATE INDEX "checkpoints_next_at_idx" ON "turnlog"."checkpoints" USING btree ("next_at") WHERE "turnlog"."checkpoints"."next_at" is not null;--> statement-breakpoint
CREATE INDEX "checkpoints_parked_at_idx" ON "turnlog"."checkpoints" USING btree ("parked_at") WHERE "turnlog"."checkpoints"."parked_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "events_session_id_append_id_idx" ON "turnlog"."events" USING btree ("session_id","append_id") WHERE "turnlog"."events"."append_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_id_idx" ON "turnlog"."outbox" USING btree ("id");--> statement-breakpoint
CREATE INDEX "work_ring_at_idx" ON "turnlog"."work" USING btree ("ring_at");--> statement-breakpoint
CREATE INDEX "work_claimed_until_idx" ON "turnlog"."work" USING btree ("claimed_until");