/** Fails when the table definitions have changed without a migration: generating one would yield something. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const scratch = mkdtempSync(join(tmpdir(), "turnlog-migrations-"));
try {
  cpSync("drizzle", scratch, { recursive: true });
  const before = readdirSync(scratch).length;
  const run = spawnSync(
    process.execPath,
    [
      join("node_modules", "drizzle-kit", "bin.cjs"),
      "generate",
      "--dialect=postgresql",
      "--schema=./src/schema/*.ts",
      `--out=${scratch}`,
    ],
    { encoding: "utf8" },
  );
  const isClean = run.status === 0 && readdirSync(scratch).length === before;
  if (!isClean) {
    process.stderr.write(
      `${run.stdout}${run.stderr}\nThe tables changed: run npm run db:generate and commit the result.\n`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
