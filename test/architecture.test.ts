import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** Who may import whom: folders and files of src, and packages. `node:` modules are free; a folder may use itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  logger: [],
  events: ["errors", "zod"],
  config: ["errors", "zod"],
  db: ["errors", "drizzle-orm", "pg"],
  schema: ["drizzle-orm"],
  log: ["db", "events", "errors"],
  relay: ["db", "events", "queue/queue", "logger"],
  "queue/queue": ["events"],
  "queue/queue-with-fallback": ["errors", "queue/queue"],
  "queue/postgres": ["db", "events", "queue/queue"],
  "queue/redis": [
    "db/wake",
    "errors",
    "events",
    "logger",
    "queue/queue",
    "bullmq",
    "ioredis",
  ],
  projector: [
    "db",
    "events",
    "errors",
    "log/read",
    "log/stored-row",
    "logger",
    "drizzle-orm",
  ],
  "projections/messages": [
    "events",
    "errors",
    "projector/projection",
    "projections/columns",
    "drizzle-orm",
  ],
  "projections/usage": [
    "events",
    "projector/projection",
    "projections/columns",
    "drizzle-orm",
  ],
  "projections/titles": [
    "events",
    "projector/projection",
    "projections/columns",
    "drizzle-orm",
  ],
  "projections/sessions": [
    "events",
    "projector/projection",
    "projections/columns",
    "projections/session-stats",
    "drizzle-orm",
  ],
  "projections/turns": [
    "events",
    "projector/projection",
    "projections/columns",
    "projections/session-stats",
    "drizzle-orm",
  ],
  "projections/tool-calls": [
    "events",
    "projector/projection",
    "projections/columns",
    "drizzle-orm",
  ],
  "projections/columns": ["drizzle-orm"],
  "projections/session-stats": ["events", "projector/projection"],
  "projections/registry": ["projections", "projector/projection"],
  builds: [
    "config",
    "db",
    "errors",
    "events",
    "log/read",
    "log/session-row",
    "log/stored-row",
    "logger",
    "projections/columns",
    "projections/registry",
    "projector",
    "drizzle-orm",
  ],
  query: ["db", "events", "errors", "drizzle-orm"],
  health: [
    "db",
    "errors",
    "logger",
    "query/problems",
    "query/status",
    "queue/redis/probe-redis",
    "@hono/node-server",
    "hono",
    "prom-client",
  ],
  writer: ["db", "errors", "events", "log"],
  verify: [
    "config",
    "db",
    "errors",
    "events",
    "log/read",
    "log/session-ids",
    "projections/registry",
    "projector",
    "drizzle-orm",
  ],
  "session-store": [
    "config",
    "db",
    "errors",
    "events",
    "log",
    "query",
    "writer",
  ],
  io: ["session-store", "events", "errors"],
  "io/zstd": ["io", "fzstd", "xxhash-wasm", "@hpcc-js/wasm-zstd"],
  embedded: ["errors", "pg", "zod"],
  runtime: [
    "builds/workers",
    "config",
    "db",
    "errors",
    "health",
    "logger",
    "projections/registry",
    "projector",
    "queue",
    "relay",
    "pino",
  ],
  cli: [
    "builds",
    "config",
    "db",
    "embedded",
    "errors",
    "events",
    "io",
    "log",
    "logger",
    "projections/registry",
    "projector/parked",
    "projector/projection",
    "query",
    "queue/redis/probe-redis",
    "runtime",
    "session-store",
    "verify",
    "commander",
    "pino",
  ],
  testing: [
    "db/package-root",
    "events",
    "io/log-records",
    "projector/projection",
    "projector/row-buffer",
    "drizzle-orm",
  ],
  index: [
    "builds",
    "db/joined",
    "errors",
    "events",
    "log",
    "projections/columns",
    "projector/projection",
    "query",
    "runtime/user-projections",
    "session-store",
    "verify",
    "writer",
  ],
};

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** What a file imports: paths below src without extension, or names of packages. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?: from |^import |import\()"([^"]+)"/gm)].flatMap(
    ([, target = ""]) => {
      if (target.startsWith("node:")) return [];
      if (target.startsWith("."))
        return [
          relative("src", join(dirname(file), target)).replace(/\.ts$/, ""),
        ];
      return [target.startsWith("@") ? target : (target.split("/")[0] ?? "")];
    },
  );
}

/** The entry of the table that a file falls under: the longest that fits. */
function ruleOf(file: string): string {
  const path = relative("src", file).replace(/\.ts$/, "");
  const fitting = Object.keys(MAY_IMPORT).filter((key) => isWithin(path, key));
  return fitting.toSorted((a, b) => b.length - a.length)[0] ?? "";
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

describe("the source", () => {
  it("imports only along the data path", () => {
    const forbidden = sourceFiles("src").flatMap((file) => {
      const rule = ruleOf(file);
      const allowed = [rule, ...(MAY_IMPORT[rule] ?? [])];
      return importsOf(file)
        .filter((target) => !allowed.some((entry) => isWithin(target, entry)))
        .map((target) => `${file} imports ${target}`);
    });

    expect(forbidden).toEqual([]);
  });

  it("keeps to the table: every folder is in it, and no entry is unused", () => {
    const used = new Set(sourceFiles("src").map(ruleOf));

    expect([...used].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
  });

  it("wires workers from the runtime alone", () => {
    const targets = sourceFiles("workers").flatMap(importsOf);

    expect(targets.every((target) => isWithin(target, "runtime"))).toBe(true);
  });

  it("lets no fold look at a clock, at chance, or outside", () => {
    const impure = sourceFiles("src/projections").filter((file) =>
      /Date\.now|new Date|Math\.random|randomUUID|process\.|fetch\(/.test(
        readFileSync(join(ROOT, file), "utf8"),
      ),
    );

    expect(impure).toEqual([]);
  });

  it("prints only on the command line", () => {
    const printing = sourceFiles("src")
      .filter((file) => !file.startsWith("src/cli/"))
      .filter((file) =>
        /^(?! *\*).*(console\.|process\.std(out|err))/m.test(
          readFileSync(join(ROOT, file), "utf8"),
        ),
      );

    expect(printing).toEqual([]);
  });
});
