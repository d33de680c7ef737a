import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";

const database = useTestDatabase();

it("what an append has acknowledged is there after its process was killed at once (B033)", async () => {
  const { store, url } = database();
  const id = randomUUID();
  const script = join(import.meta.dirname, "append-fifty.ts");
  const writer = spawn(process.execPath, ["--import", "tsx", script, url, id]);
  await once(writer.stdout, "data");
  writer.kill("SIGKILL");
  await once(writer, "exit");

  const results = (await collect(store, id)).filter(
    ({ type }) => type === "tool/result",
  );

  expect(results).toHaveLength(50);
});
