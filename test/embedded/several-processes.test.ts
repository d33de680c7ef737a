/** Several processes of one user on one server. */
import { once } from "node:events";
import { expect, it } from "vitest";
import { queryOne } from "./query.ts";
import { hold, newDirectory, newProject, start } from "./workspace.ts";

it("lets two first starts at once end up on one server", async () => {
  const directory = await newDirectory();

  const [left, right] = await Promise.all([hold(directory), hold(directory)]);

  expect(left.databaseUrl).toBe(right.databaseUrl);
  expect(left.adopted).not.toBe(right.adopted);
  await left.finish();
  await right.finish();
  expect(right.printed).toEqual(["drained"]);
});

it("stops the server with the last process, whichever started it", async () => {
  const directory = await newProject();
  const starter = await hold(directory);
  const server = await start(directory);
  expect(server.adopted).toBe(true);

  await starter.finish();
  expect(await queryOne(server.databaseUrl, "select 1")).toBe("1");

  await server.close();
  await expect(queryOne(server.databaseUrl, "select 1")).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});

it("does not count a process that was killed", async () => {
  const directory = await newProject();
  const server = await start(directory);
  const killed = await hold(directory);
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");

  await server.close();

  await expect(queryOne(server.databaseUrl, "select 1")).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});

it("leaves the server running through a Ctrl-C until the process has drained", async () => {
  const directory = await newProject();
  const holder = await hold(directory, { detached: true });
  const ended = once(holder.child, "close");

  // To the whole process group, as a terminal does.
  process.kill(-Number(holder.child.pid), "SIGINT");

  expect(await ended).toEqual([0, null]);
  expect(holder.printed).toEqual(["drained"]);
  await expect(queryOne(holder.databaseUrl, "select 1")).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});
