import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { importFile } from "../../src/io/import-file.ts";
import { compressFrame } from "../../src/io/zstd/compress-frame.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import {
  header,
  prompt,
  run,
  stepStart,
  textOf,
  turnEnd,
  turnStart,
  useLogFolder,
} from "./log-files.ts";

const database = useTestDatabase();
const { writeBytes } = useLogFolder();

function frames(...plain: readonly (string | Buffer)[]): Promise<Buffer[]> {
  return Promise.all(plain.map((part) => compressFrame(Buffer.from(part))));
}

async function importBytes(bytes: readonly Uint8Array[]) {
  const file = await writeBytes(
    Buffer.concat(bytes),
    `${randomUUID()}.jsonl.zstd`,
  );
  return importFile(database().store, file);
}

/** A copy with one byte changed. */
function altered(
  frame: Buffer,
  at: number,
  change: (byte: number) => number,
): Buffer {
  const copy = Buffer.from(frame);
  copy.writeUInt8(change(copy.readUInt8(at)), at);
  return copy;
}

const TYPES = [
  "turn/start",
  "step/start",
  "user/message",
  "assistant/chunk",
  "assistant/chunk",
  "assistant/chunk",
];

/** Header, a frame of two events, a frame of one event and a run. */
function logFrames(id: string): Promise<Buffer[]> {
  return frames(
    textOf(header(id)),
    textOf(turnStart, stepStart),
    textOf(prompt, run),
  );
}

describe("a compressed log", () => {
  it("is read frame by frame", async () => {
    const id = randomUUID();

    const report = await importBytes(await logFrames(id));

    expect(report).toMatchObject({
      outcome: "imported",
      events: 6,
      tail: null,
    });
    expect(await collect(database().store, id)).toHaveLength(6);
  });

  it("may be one frame, however much is in it", async () => {
    const events = Array.from({ length: 20_000 }, (_, seq) => ({
      type: "feedback/record",
      seq,
      time: seq,
      data: { text: `note ${seq * 7919}` },
    }));
    const bytes = await frames(textOf(header(randomUUID()), ...events));

    expect(await importBytes(bytes)).toMatchObject({ events: 20_000 });
  });

  it("may have empty frames, and lines that no frame is cut at", async () => {
    const bytes = await frames(
      textOf(header(randomUUID())),
      "",
      textOf(turnStart),
    );

    expect(await importBytes(bytes)).toMatchObject({ events: 1 });
  });

  it("that breaks off anywhere in its last frame keeps what can be read of it, and tells of the rest", async () => {
    const [head = Buffer.of(), ...more] = await logFrames(randomUUID());
    const last = more.at(-1) ?? Buffer.of();

    for (let length = 1; length < last.length; length += 1) {
      const id = randomUUID();
      const [ownHead = head] = await frames(textOf(header(id)));
      const report = await importBytes([
        ownHead,
        ...more.slice(0, -1),
        last.subarray(0, length),
      ]);

      expect(report.outcome).toBe("imported");
      expect([2, 3, 6]).toContain(report.events);
      expect(report.tail?.reason).toBe("the line is cut off");
      expect((await database().store.session(id)).head).toBe(report.events);
    }
  });

  it("that breaks off in a long frame keeps whole lines of it", async () => {
    const id = randomUUID();
    const events = Array.from({ length: 30_000 }, (_, seq) => ({
      type: "feedback/record",
      seq,
      time: seq,
      data: { text: `${Math.imul(seq, 2654435761)} ${randomUUID()}` },
    }));
    const [head = Buffer.of(), body = Buffer.of()] = await frames(
      textOf(header(id)),
      textOf(...events),
    );

    const report = await importBytes([
      head,
      body.subarray(0, Math.floor(body.length / 2)),
    ]);

    expect(report).toMatchObject({ outcome: "imported" });
    expect(report.events).toBeGreaterThan(5_000);
    expect(report.events).toBeLessThan(20_000);
    expect(await collect(database().store, id)).toEqual(
      events.slice(0, report.events),
    );
  });
});

describe("a compressed log is refused", () => {
  it.each([1, 2])(
    "for damage in frame %i that changes what is in it",
    async (at) => {
      const { store } = database();
      const size = (await logFrames("x"))[at]?.length ?? 0;
      for (let byte = 0; byte < size; byte += 1) {
        const id = randomUUID();
        const damaged = (await logFrames(id)).map((frame, index) =>
          index === at ? altered(frame, byte, (value) => value ^ 0x10) : frame,
        );

        const report = await importBytes(damaged);

        // Not refused: the frame reaches over the end of the file now, or a mere hint for decoders is another.
        const events = report.events === 0 ? [] : await collect(store, id);
        const isRefused = report.outcome === "refused";
        expect(report.code).toBe(isRefused ? "LOG_CORRUPT" : null);
        expect(events.map(({ type }) => type)).toEqual(
          TYPES.slice(0, report.events),
        );
      }
    },
  );

  it("when a complete frame ends inside a line", async () => {
    const bytes = await frames(
      textOf(header("x")),
      '{"type":',
      '"turn/start"}\n',
    );

    expect(await importBytes(bytes)).toMatchObject({
      outcome: "refused",
      code: "LOG_CORRUPT",
      reason: expect.stringContaining("ends inside a line"),
    });
  });

  it("when a line of a complete frame is no record, even at its end", async () => {
    const bytes = await frames(textOf(header("x")), textOf(turnStart, "{"));

    expect(await importBytes(bytes)).toMatchObject({
      outcome: "refused",
      code: "LOG_CORRUPT",
      line: 3,
      reason: expect.stringContaining("it was written whole"),
    });
  });

  it("when a turn ends behind damage", async () => {
    const bytes = await frames(
      textOf(header("x")),
      textOf(turnStart, "{", turnEnd(1)),
    );

    expect(await importBytes(bytes)).toMatchObject({
      outcome: "refused",
      line: 3,
    });
  });

  it.each<[string, (frame: Buffer) => Buffer, string]>([
    [
      "without a checksum",
      (frame) => altered(frame.subarray(0, -4), 4, (byte) => byte & ~4),
      "no checksum",
    ],
    [
      "with another checksum",
      (frame) => altered(frame, frame.length - 1, (byte) => byte ^ 1),
      "does not have its checksum",
    ],
    [
      "with a reserved bit",
      (frame) => altered(frame, 4, (byte) => byte | 8),
      "reserved bit",
    ],
    [
      "that needs a dictionary",
      (frame) => altered(frame, 4, (byte) => byte | 1),
      "needs a dictionary",
    ],
    [
      "to be skipped",
      () => Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]),
      "skippable",
    ],
    ["that is none", () => Buffer.from("plain text\n"), "no Zstandard frame"],
  ])("when there is a frame %s", async (_what, change, reason) => {
    const [head = Buffer.of(), body = Buffer.of()] = await frames(
      textOf(header("x")),
      textOf(turnStart),
    );

    const report = await importBytes([head, change(body)]);

    expect(report).toMatchObject({
      outcome: "refused",
      code: "LOG_CORRUPT",
      reason: expect.stringContaining(reason),
    });
  });
});
