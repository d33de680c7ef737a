CREATE TABLE "turnlog"."import_findings" (
	"session_id" text collate "C" NOT NULL,
	"incarnation" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"rule" text collate "C" NOT NULL,
	"path" text collate "C" NOT NULL,
	"reason" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "import_findings_pkey" PRIMARY KEY("session_id","incarnation","seq","rule","path")
);
--> statement-breakpoint
update turnlog.schema set version = 2;
