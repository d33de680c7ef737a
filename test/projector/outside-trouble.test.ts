import { beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { notes } from "../support/events.ts";
import {
  failing,
  newer,
  useFailingProjections,
} from "../support/projector-failing.ts";
import {
  checkpointOf,
  fold,
  foldFully,
  schemaOf,
} from "../support/projector-steps.ts";
import { workOf } from "../support/relay-steps.ts";

const database = useTestDatabase();
const { appendNotes, columnOf } = useFailingProjections(database);

/** Makes the database fail when a note is written whose text is in the table `trouble`: an SQLSTATE, or `lost`. */
beforeAll(async () => {
  const { db } = database();
  const schema = await schemaOf(db, "steady");
  for (const text of [
    "create table trouble (text text)",
    `create function trouble() returns trigger language plpgsql as $$
     begin
       if not exists (select from trouble t where t.text = new.text) then return new; end if;
       if new.text = 'lost' then perform pg_terminate_backend(pg_backend_pid()); end if;
       raise exception using errcode = new.text;
     end $$`,
    `create trigger trouble before insert or update on ${schema}.note_lines
     for each row execute function trouble()`,
  ])
    await db.rows({ text });
});

describe("trouble that says nothing about the fold", () => {
  it.each([
    ["a deadlock", "40P01"],
    ["a lock that could not be had", "55P03"],
    ["a serialisation failure", "40001"],
    ["a cancelled statement", "57014"],
    ["a server that shuts down", "57P01"],
    ["a lost connection", "lost"],
  ])("such as %s is not counted as a failure", async (_what, text) => {
    const { db } = database();
    const id = await appendNotes("a", text);
    await db.rows({ text: "insert into trouble values ($1)" }, [text]);

    const folding = fold(db, id, failing);

    await expect(folding).rejects.toBeInstanceOf(Error);
    expect((await checkpointOf(db, id, "steady"))?.attempts ?? 0).toBe(0);
    expect(await workOf(db, id)).toBe(2);
    await db.rows({ text: "delete from trouble" });
    await foldFully(db, id, failing);
    expect(await columnOf("steady", id)).toEqual(["a", text]);
  });
});

describe("a build of a version that this worker has not got", () => {
  it("is left alone, and the others go on (G3 #31)", async () => {
    const { db, store } = database();
    const id = await appendNotes("a");
    await foldFully(db, id, failing);
    await store.append(id, notes(1), { expectedSeq: 1 });

    await foldFully(db, id, newer);

    expect(await columnOf("steady", id)).toEqual(["a"]);
    expect(await checkpointOf(db, id, "steady")).toMatchObject({
      next_seq: 1,
      attempts: 0,
    });
    expect(await columnOf("throwing", id)).toHaveLength(2);
  });

  it("keeps its work for a worker that has it", async () => {
    const { db } = database();
    const id = await appendNotes("a");

    await foldFully(db, id, newer);
    expect(await workOf(db, id)).toBe(1);
    await foldFully(db, id, failing);

    expect(await workOf(db, id)).toBeNull();
    expect(await columnOf("steady", id)).toEqual(["a"]);
  });
});
