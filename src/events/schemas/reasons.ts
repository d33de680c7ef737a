/** Says what is wrong with data, in the words of a rule violation, for the first issue zod finds. */
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** Where the issue is, like `data.todos[0].content`. */
export function pathOf(issue: Issue): string {
  const keys = [...issue.path];
  if (issue.code === "unrecognized_keys") keys.push(issue.keys[0] ?? "");
  return keys.reduce<string>(
    (path, key) =>
      typeof key === "number" ? `${path}[${key}]` : `${path}.${String(key)}`,
    "data",
  );
}

/** What is wrong, as the end of a sentence that starts with the path. */
export function reasonOf(issue: Issue): string {
  if (issue.code === "invalid_type")
    return EXPECTED[issue.expected] ?? `must be of type ${issue.expected}`;
  if (issue.code === "invalid_value") return mustBe(issue.values);
  if (issue.code === "invalid_union" && "options" in issue)
    return mustBe(issue.options ?? []);
  if (issue.code === "unrecognized_keys") return "must be absent";
  return issue.message;
}

const EXPECTED: Readonly<Record<string, string>> = {
  array: "must be an array",
  boolean: "must be true or false",
  number: "must be a number",
  object: "must be an object",
  string: "must be a string",
};

function mustBe(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value));
  const last = names.pop() ?? "absent";
  return names.length === 0
    ? `must be ${last}`
    : `must be ${names.join(", ")} or ${last}`;
}
