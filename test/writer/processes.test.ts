import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { collect, notes } from "../support/events.ts";

const database = useTestDatabase();
const SCRIPT = join(import.meta.dirname, "stream-until-killed.ts");

/** A process that streams into the session. */
function startStreaming(id: string) {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", SCRIPT, database().url, id],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = once(child, "exit");
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += String(chunk);
  });
  return {
    /** Next seq after what it has said to be stored; 0 before it has. */
    stored: (): number =>
      Number([...said.matchAll(/^stored (\d+)\n/gm)].at(-1)?.[1] ?? 0),
    /** Code of the error that ended it; null while it goes on. */
    endedBy: (): string | null => /^ended (\w+)\n/m.exec(said)?.[1] ?? null,
    pid: child.pid,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function storedSession(): Promise<string> {
  const id = randomUUID();
  await database().store.append(id, notes(1), { expectedSeq: 0 });
  return id;
}

describe("a process that writes a session", { timeout: 120_000 }, () => {
  it("and is killed leaves everything that was flushed, once, and a turn that the next writer closes", async () => {
    const { store } = database();
    const id = await storedSession();
    for (let round = 1; round <= 3; round += 1) {
      const streaming = startStreaming(id);
      const before = (await store.session(id)).head;
      await expect
        .poll(streaming.stored, { timeout: 60_000 })
        .toBeGreaterThan(before + 20);
      await streaming.kill();

      const { head } = await store.session(id);
      expect(head).toBeGreaterThanOrEqual(streaming.stored());
      expect((await store.inspect(id)).isWriterAlive).toBe(true);
    }
    const writer = await store.open(id, { takeOver: true });
    await writer.close();

    const events = await collect(store, id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at));
    expect(
      events.filter(({ type }) => type === "turn/end").map(({ data }) => data),
    ).toEqual(
      [1, 2, 3].map((turn) => ({ turn, reason: { kind: "interrupted" } })),
    );
    expect((await store.check(id)).findings).toEqual([]);
  });

  it("goes on alone: one that comes later fences it off at its next append", async () => {
    const { store } = database();
    const id = await storedSession();
    const first = startStreaming(id);
    await expect.poll(first.stored, { timeout: 60_000 }).toBeGreaterThan(10);

    const second = startStreaming(id);

    await expect.poll(first.endedBy, { timeout: 60_000 }).toBe("WRITER_FENCED");
    const atEnd = second.stored();
    await expect
      .poll(second.stored, { timeout: 60_000 })
      .toBeGreaterThan(atEnd + 20);
    expect(second.endedBy()).toBeNull();
    await Promise.all([first.kill(), second.kill()]);
    const writers = (await collect(store, id)).flatMap(({ type, data }) =>
      type === "assistant/chunk" ? [JSON.stringify(data)] : [],
    );
    const lastOfFirst = writers.findLastIndex((data) =>
      data.includes(`by ${first.pid}`),
    );
    const firstOfSecond = writers.findIndex((data) =>
      data.includes(`by ${second.pid}`),
    );
    expect(lastOfFirst).toBeLessThan(firstOfSecond);
    expect((await store.check(id)).findings).toEqual([]);
  });
});
