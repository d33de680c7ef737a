import fc from "fast-check";
import { randomUUID } from "node:crypto";
import { readFile, readdir, stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  exportBytes,
  exportToFile,
  exportToFolder,
} from "../../src/io/export-session.ts";
import { importFile } from "../../src/io/import-file.ts";
import { appendLog } from "../support/append-log.ts";
import { freshDatabase, useTestDatabase } from "../support/database.ts";
import { legalLog } from "../support/generated-logs.ts";
import { formatLog } from "../support/reference-log.ts";
import {
  header,
  prompt,
  run,
  stepStart,
  textOf,
  turnStart,
  useLogFolder,
} from "./log-files.ts";

const database = useTestDatabase();
const folder = useLogFolder();

const plain = { packed: true, zstd: false, overwrite: false };

async function bytesOf(
  id: string,
  options = plain,
  store = database().store,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of exportBytes(store, id, options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const reordered = (seq: number): object => ({
  seq,
  type: "assistant/chunk",
  time: 13,
  data: {
    turn: 1,
    step: 1,
    chunk: { type: "text-delta", index: 0, text: "a" },
  },
});

const storableLog = legalLog().filter(({ events }) => events.length > 0);

/** A session of six events, three of them deltas. */
async function storedSession(id: string = randomUUID()): Promise<string> {
  const file = await folder.write(
    header(id),
    turnStart,
    stepStart,
    prompt,
    run,
  );
  await importFile(database().store, file);
  return id;
}

describe("an export", () => {
  it("that is given up leaves nothing behind, and what was there as it was", async () => {
    const id = await storedSession();
    const root = folder.path(randomUUID());
    const file = `${root}/log.jsonl`;
    await exportToFile(database().store, id, file, plain);
    const before = await readFile(file);
    const signal = AbortSignal.abort(new Error("enough"));

    await expect(
      exportToFile(database().store, id, file, {
        ...plain,
        overwrite: true,
        signal,
      }),
    ).rejects.toThrow("enough");

    expect(await readdir(root)).toEqual(["log.jsonl"]);
    expect(await readFile(file)).toEqual(before);
  });

  it("of any log is the file that the harness would write, however the log was appended", async () => {
    await fc.assert(
      fc.asyncProperty(
        storableLog,
        fc.integer({ min: 1, max: 40 }),
        async (log, batch) => {
          const stored = await appendLog(database().store, log, batch);

          const bytes = await bytesOf(stored.header.id);

          expect(bytes.toString()).toBe(formatLog(stored));
        },
      ),
      { numRuns: 30 },
    );
  });

  it("of any log, unpacked, has each event's JSON on a line of its own", async () => {
    await fc.assert(
      fc.asyncProperty(storableLog, async (log) => {
        const { header: head, events } = await appendLog(
          database().store,
          log,
          100,
        );

        const bytes = await bytesOf(head.id, { ...plain, packed: false });

        expect(bytes.toString()).toBe(
          textOf({ type: "session", ...head }, ...events),
        );
      }),
      { numRuns: 20 },
    );
  });

  it("of any log comes back through another store as it was, compressed or not", async () => {
    await using other = await freshDatabase();
    await fc.assert(
      fc.asyncProperty(
        storableLog,
        fc.boolean(),
        fc.boolean(),
        async (log, packed, zstd) => {
          const { header: head } = await appendLog(database().store, log, 100);
          const file = await folder.writeBytes(
            await bytesOf(head.id, { ...plain, packed, zstd }),
            randomUUID(),
          );

          await importFile(other.store, file);

          expect(await bytesOf(head.id, plain, other.store)).toEqual(
            await bytesOf(head.id),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  it("keeps an order of keys that a packed row has no place for", async () => {
    const id = randomUUID();
    const text = textOf(
      header(id),
      turnStart,
      stepStart,
      prompt,
      ...[3, 4, 5].map(reordered),
    );
    await importFile(database().store, await folder.writeBytes(text));

    expect((await bytesOf(id)).toString()).toBe(text);
  });

  it("gives the same bytes each time, compressed too", async () => {
    const id = await storedSession();
    const zstd = { ...plain, zstd: true };

    expect(await bytesOf(id, zstd)).toEqual(await bytesOf(id, zstd));
    expect(await bytesOf(id)).toEqual(await bytesOf(id));
  });

  it("of a session that is not there says so", async () => {
    await expect(bytesOf("nobody")).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });
});

describe("an export of a long log", () => {
  it("is compressed in frames of whole lines, and imported again", async () => {
    await using other = await freshDatabase();
    const id = randomUUID();
    const notes = Array.from({ length: 30_000 }, (_, seq) => ({
      type: "feedback/record",
      seq,
      time: seq,
      data: { text: `note ${Math.imul(seq, 2654435761)}` },
    }));
    const text = textOf(header(id), ...notes);
    await importFile(database().store, await folder.writeBytes(text));

    const bytes = await bytesOf(id, { ...plain, zstd: true });
    await importFile(other.store, await folder.writeBytes(bytes));

    expect(bytes.length).toBeLessThan(text.length / 4);
    expect((await bytesOf(id, plain, other.store)).toString()).toBe(text);
  });
});

describe("an exported file", () => {
  it("has its whole content and is the owner's alone", async () => {
    const id = await storedSession();
    const file = folder.path(`${id}/out.jsonl`);

    const report = await exportToFile(database().store, id, file, plain);

    const bytes = await readFile(file);
    expect(report).toEqual({ sessionId: id, file, bytes: bytes.length });
    expect(bytes).toEqual(await bytesOf(id));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("is not overwritten, unless that is asked for", async () => {
    const { store } = database();
    const id = await storedSession();
    const file = await folder.writeBytes("mine", `${id}.jsonl`);

    await expect(exportToFile(store, id, file, plain)).rejects.toMatchObject({
      code: "FILE_EXISTS",
      path: file,
    });
    expect(await readFile(file, "utf8")).toBe("mine");
    await exportToFile(store, id, file, { ...plain, overwrite: true });
    expect(await readFile(file)).toEqual(await bytesOf(id));
  });

  it("is left as it was when the export fails, and nothing lies beside it", async () => {
    const file = await folder.writeBytes("mine", "kept.jsonl");

    await expect(
      exportToFile(database().store, "nobody", file, {
        ...plain,
        overwrite: true,
      }),
    ).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });

    expect(await readFile(file, "utf8")).toBe("mine");
    expect(
      (await readdir(folder.path("."))).filter((name) =>
        name.includes("partial"),
      ),
    ).toEqual([]);
  });

  it("that can't be written is named with what is in its way", async () => {
    const id = await storedSession();
    const blocked = await folder.writeBytes("a file", `${id}.blocked`);

    await expect(
      exportToFile(database().store, id, `${blocked}/out.jsonl`, plain),
    ).rejects.toMatchObject({ code: "FILE_UNWRITABLE" });
  });

  it("goes to its place in the folder layout", async () => {
    const id = await storedSession(`a/b~é ${randomUUID()}`);
    const root = folder.path(randomUUID());
    const session = id.replace("a/b~é ", "a~002Fb~007E~00E9~0020");

    const reports = await Promise.all(
      [false, true].map((zstd) =>
        exportToFolder(database().store, id, root, { ...plain, zstd }),
      ),
    );

    expect(reports.map(({ file }) => file)).toEqual([
      `${root}/--w--/${session}/session.jsonl`,
      `${root}/--w--/${session}/session.jsonl.zstd`,
    ]);
    expect((await stat(`${root}/--w--`)).mode & 0o777).toBe(0o700);
  });
});
