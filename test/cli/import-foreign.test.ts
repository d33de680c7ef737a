import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { turnlog } from "../support/command-line.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import { useLogFolder } from "../io/log-files.ts";

const database = useTestDatabase();
const folder = useLogFolder();

const run = (...args: readonly string[]) =>
  turnlog(args, { databaseUrl: database().url });

/** A conversation of one prompt and one answer, and a line that our logs have no word for. */
function transcript(sessionId: string): string {
  const common = {
    sessionId,
    cwd: "/srv/app",
    timestamp: "2026-10-02T08:00:00.000Z",
  };
  const lines = [
    {
      type: "user",
      uuid: "u1",
      parentUuid: null,
      ...common,
      message: { role: "user", content: "Sort the list" },
    },
    {
      type: "assistant",
      uuid: "a1",
      parentUuid: "u1",
      ...common,
      message: {
        id: "msg_1",
        role: "assistant",
        model: "sonar-large",
        stop_reason: "end_turn",
        content: [{ type: "text", text: "Sorted." }],
        usage: {
          input_tokens: 3,
          cache_read_input_tokens: 40,
          cache_creation_input_tokens: 5,
          output_tokens: 2,
        },
      },
    },
    { type: "file-history-snapshot", messageId: "u1", snapshot: {} },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

describe("import of another agent's transcript", () => {
  it("stores it as a session, says what it could not express, and changes nothing the second time", async () => {
    const id = randomUUID();
    const file = await folder.writeBytes(transcript(id));

    const first = await run(
      "import",
      "--format",
      "claude-code",
      "--json",
      file,
    );
    const again = await run(
      "import",
      "--format",
      "claude-code",
      "--json",
      file,
    );

    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject([
      {
        outcome: "imported",
        sessionId: id,
        remarks: [expect.stringMatching(/: 1 .*line 3/)],
      },
    ]);
    expect(first.stderr).toContain(`${file}: note: `);
    expect(JSON.parse(again.stdout)).toMatchObject([{ outcome: "unchanged" }]);
    const types = (await collect(database().store, id)).map(({ type }) => type);
    expect(types).toContain("assistant/message");
    expect((await database().store.check(id)).count).toBe(0);
  });

  it("is refused with the line that is none", async () => {
    const file = await folder.writeBytes("{\n");

    const { code, stderr } = await run("import", "--format", "pi", file);

    expect(code).toBe(1);
    expect(stderr).toContain(`${file}:1: refused: the line is not JSON`);
  });

  it("is wrong usage for a format that nobody reads", async () => {
    const { code, stderr } = await run("import", "--format", "opencode", "x");

    expect(code).toBe(2);
    expect(stderr).toContain("claude-code, codex, pi");
  });
});
