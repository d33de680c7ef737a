import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toolStats } from "../../examples/projections/tool-stats.ts";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import { readConfig } from "../../src/config.ts";
import { packageRoot } from "../../src/db/package-root.ts";
import { silentLogger } from "../../src/logger.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { startPipeline } from "../../src/runtime/pipeline.ts";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();
const folder = join(packageRoot(), "examples");
let pipeline: AsyncDisposable | undefined;

beforeAll(async () => {
  const { db } = database();
  const projections = [...builtInProjections, toolStats];
  await ensureBuilds(db, projections);
  pipeline = await startPipeline({
    db,
    config: readConfig({}, {}),
    logger: silentLogger,
    projections,
  });
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

describe("examples", () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith(".ts")))(
    "%s prints what it says",
    async (name) => {
      const file = join(folder, name);
      const [, promised] =
        /\/\* Prints:\n([^]*)\*\//.exec(readFileSync(file, "utf8")) ?? [];

      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["--import", "tsx", file],
        {
          env: { ...process.env, TURNLOG_DATABASE_URL: database().url },
        },
      );

      expect(stdout).toBe(promised);
    },
  );
});
