/** The end of a generator of documents: writes the file, or with `--check` fails when it is not current. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";

/** @param name of the file in docs/ */
export async function writeOrCheck(
  name: string,
  markdown: string,
): Promise<void> {
  const file = join(import.meta.dirname, "..", "docs", name);
  const text = await format(markdown, { parser: "markdown" });
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    process.stderr.write(
      `${file} is not current: run npm run docs:generate and commit the result.\n`,
    );
    process.exitCode = 1;
  }
}
