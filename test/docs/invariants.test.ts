import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/db/package-root.ts";

const INVARIANTS = read("docs/invariants.md");
const SOURCES = sourceFiles().map((file) => ({ file, text: read(file) }));

describe("docs/invariants.md", () => {
  it.each(namedTests())("names a test that exists: %s %s", (file, title) => {
    expect(existsSync(join(packageRoot(), file))).toBe(true);
    expect(read(file)).toContain(`"${title}"`);
  });

  it("names a test in each of its rows", () => {
    const rows = INVARIANTS.split("\n").filter((line) => /^\| L?\d/.test(line));

    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter((row) => testsIn(row).length !== 1)).toEqual([]);
  });

  it("numbers its rows from 1", () => {
    const numbers = rowsOf(/^\| (\d+) /);
    const laws = rowsOf(/^\| L(\d+) /);

    expect(numbers).toEqual(numbers.map((_, at) => String(at + 1)));
    expect(laws).toEqual(laws.map((_, at) => String(at + 1)));
  });

  it.each(rulesInSource())("has the rule %s of %s", (rule) => {
    expect(documentedRules()).toContain(rule);
  });

  it.each([...documentedRules()])("has no rule that is gone: %s", (rule) => {
    const holders = SOURCES.filter(({ text }) => text.includes(`"${rule}"`));

    expect(holders).not.toEqual([]);
  });

  it("has the places that rules are checked in", () => {
    const places = new Set(
      rowsOf(/^\| \d+ .*?\| (append: [\w-]+(?: \w+)?|check only)/),
    );

    expect(places).toEqual(
      new Set([
        "append: by itself",
        "append: state",
        "append: look-up",
        "check only",
      ]),
    );
  });

  it("needs no other document of ours", () => {
    expect(INVARIANTS).not.toMatch(/\bspec\b/i);
  });
});

/** File and title of each test that is named. */
function namedTests(): [file: string, title: string][] {
  return testsIn(INVARIANTS);
}

function testsIn(text: string): [file: string, title: string][] {
  const found = text.matchAll(/`(test\/[^`]+\.test\.ts)`\s+"([^"]+)"/g);
  return [...found].map(([, file = "", title = ""]) => [file, title]);
}

function documentedRules(): ReadonlySet<string> {
  return new Set(rowsOf(/^\| \d+ +\| `([a-z-]+)`/));
}

function rowsOf(pattern: RegExp): string[] {
  return INVARIANTS.split("\n").flatMap(
    (line) => pattern.exec(line)?.[1] ?? [],
  );
}

/**
 * Names of rules as the source gives them: to RuleViolation and `violate`, to a `fail` that takes a rule, as a field
 * of an error or a finding, and in the docstrings of what throws them.
 */
function rulesInSource(): [rule: string, file: string][] {
  return SOURCES.flatMap(({ file, text }) => {
    const calls = /function fail\(\s*rule\b/.test(text)
      ? /\b(?:RuleViolation|violate|fail)\(\s*"([^"]+)"/g
      : /\b(?:RuleViolation|violate)\(\s*"([^"]+)"/g;
    const fields = text.matchAll(/\brule: "([^"]+)"/g);
    const told = text.matchAll(/@throws RuleViolation \(rules? ([^)]+)\)/g);
    const names = [
      ...[...text.matchAll(calls), ...fields].map(([, rule = ""]) => rule),
      ...[...told].flatMap(([, rules = ""]) => rules.split(", ")),
      ...(file.endsWith("surface-check.ts")
        ? [...text.matchAll(/^ {2}"([a-z-]+)": "/gm)].map(
            ([, rule = ""]) => rule,
          )
        : []),
    ];
    return [...new Set(names)]
      .filter((rule) => /^[a-z]+(-[a-z]+)*$/.test(rule))
      .map((rule): [string, string] => [rule, file]);
  });
}

function sourceFiles(): string[] {
  const src = join(packageRoot(), "src");
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join("src", name));
}

function read(file: string): string {
  return readFileSync(join(packageRoot(), file), "utf8");
}
