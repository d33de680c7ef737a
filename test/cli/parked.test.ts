import { describe, expect, it } from "vitest";
import { turnlog } from "../support/command-line.ts";
import { useTestDatabase } from "../support/database.ts";
import {
  failing,
  repaired,
  useFailingProjections,
} from "../support/projector-failing.ts";
import { foldFully } from "../support/projector-steps.ts";

const database = useTestDatabase();
const { appendNotes, columnOf, failUntilParked } =
  useFailingProjections(database);

const parked = (...args: readonly string[]) =>
  turnlog(["parked", ...args], { databaseUrl: database().url });

async function parkedSession(...texts: readonly string[]): Promise<string> {
  const id = await appendNotes(...texts);
  await failUntilParked(id);
  return id;
}

describe("turnlog parked", () => {
  it("lists what is parked, as a table and as JSON, without any content (G5 #66)", async () => {
    expect((await parked("list")).stdout).toBe("Nothing is parked.\n");
    const id = await parkedSession("my secret", "throw");

    const table = await parked("list", "--projection", "throwing");
    const json = await parked("list", "--json");

    expect(table).toMatchObject({ code: 0, stderr: "" });
    expect(table.stdout).toMatch(
      new RegExp(
        `throwing +${id} +1 +feedback/record +RangeError +8 +1 +parked `,
      ),
    );
    expect(JSON.parse(json.stdout)).toMatchObject([
      { projection: "throwing", sessionId: id, seq: 1 },
    ]);
    expect(table.stdout + json.stdout).not.toContain("secret");
    expect((await parked("list", "--projection", "usage")).stdout).toBe(
      "Nothing is parked.\n",
    );
  });

  it("shows one, and where to find the event", async () => {
    const id = await parkedSession("a", "throw");

    const { code, stdout } = await parked("show", "throwing", id);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^projection +throwing, version 1$/m);
    expect(stdout).toMatch(/^seq +1 \(feedback\/record\)$/m);
    expect(stdout).toContain(`turnlog events ${id} --from 1 --limit 1`);
  });

  it("tries one again, or all of a projection", async () => {
    const { db } = database();
    const ids = [
      await parkedSession("a", "throw"),
      await parkedSession("b", "throw"),
    ];

    const [one = "", other = ""] = ids;
    expect((await parked("retry", "throwing", one)).stdout).toMatch(/^1 to be/);
    await foldFully(db, one, repaired);
    const all = await parked("retry", "throwing", "--all", "--json");
    await foldFully(db, other, repaired);

    expect(JSON.parse(all.stdout).retried).toBeGreaterThanOrEqual(1);
    expect(await columnOf("throwing", one)).toEqual(["a", "throw"]);
    expect(await columnOf("throwing", other)).toEqual(["b", "throw"]);
  });

  it("passes over an event only with --yes, and says what it would do without", async () => {
    const { db } = database();
    const id = await parkedSession("a", "throw", "c");

    const asked = await parked("skip", "throwing", id);
    expect(asked.code).toBe(2);
    expect(asked.stdout).toContain("would pass over event 1");
    expect(asked.stderr).toContain("--yes");
    await foldFully(db, id, failing);
    expect(await columnOf("throwing", id)).toEqual(["a"]);

    const done = await parked("skip", "throwing", id, "--yes");
    expect(done.code).toBe(0);
    await foldFully(db, id, failing);
    expect(await columnOf("throwing", id)).toEqual(["a", "c"]);
  });

  it("says what is wrong with a call in one line", async () => {
    const id = await parkedSession("throw");

    expect(await parked("show", "usage", id)).toMatchObject({
      code: 1,
      stderr: `turnlog: Projection usage is neither parked nor failing at session ${id}. See: turnlog parked list\n`,
    });
    expect(await parked("retry", "throwing")).toMatchObject({
      code: 2,
      stderr: "turnlog: Name a session, or give --all.\n",
    });
    expect((await parked("frob")).code).toBe(2);
    expect((await parked("skip", "--help")).stdout).toContain("--yes");
  });
});
