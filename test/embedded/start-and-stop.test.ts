/** One process: making, starting, sharing and stopping the server. */
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { queryOne } from "./query.ts";
import { newDirectory, newProject, start } from "./workspace.ts";

it("keeps the rows over a restart", async () => {
  const directory = await newDirectory();
  const first = await start(directory);
  await queryOne(first.databaseUrl, "create table kept as select 42 as answer");
  await first.close();

  const second = await start(directory);

  expect(second.adopted).toBe(false);
  expect(await queryOne(second.databaseUrl, "table kept")).toBe("42");
});

it("makes a UTF-8, C.UTF-8, UTC database that is durable and listens on loopback alone", async () => {
  const { databaseUrl } = await start(await newProject(), { settings: {} });

  const facts = await queryOne(
    databaseUrl,
    `select concat_ws(' ', current_database(), current_user, pg_encoding_to_char(encoding), datcollate,
       current_setting('timezone'), current_setting('fsync'), current_setting('synchronous_commit'),
       current_setting('listen_addresses'), '<' || current_setting('unix_socket_directories') || '>')
     from pg_database
     where datname = current_database()`,
  );

  expect(facts).toBe("turnlog turnlog UTF8 C.UTF-8 UTC on on 127.0.0.1 <>");
});

it("asks for the password, which only its owner can read", async () => {
  const directory = await newProject();
  const { databaseUrl } = await start(directory);
  const wrong = databaseUrl.replace(/:[0-9a-f]{48}@/, ":wrong@");

  await expect(queryOne(wrong, "select 1")).rejects.toMatchObject({
    code: "28P01",
  });
  const { mode } = await stat(join(directory, "password"));
  expect(mode & 0o777).toBe(0o600);
});

it("passes settings with spaces and quotes to the server", async () => {
  const { databaseUrl } = await start(await newProject(), {
    settings: { log_line_prefix: `it's "$HOME" %p ` },
  });

  expect(await queryOne(databaseUrl, "show log_line_prefix")).toBe(
    `it's "$HOME" %p `,
  );
});

it("works in a directory with spaces and quotes in its name", async () => {
  const directory = join(await newDirectory(), "Ada's (own) project", "data");

  const { databaseUrl } = await start(directory);

  expect(await queryOne(databaseUrl, "select 1")).toBe("1");
});

it("says so when a directory's name can't be passed on", async () => {
  const directory = join(await newDirectory(), "a$b");

  await expect(start(directory)).rejects.toMatchObject({
    code: "EMBEDDED_UNAVAILABLE",
    message: expect.stringContaining("holds one of"),
  });
});

it("adopts a running server, and only the last close stops it", async () => {
  const directory = await newProject();
  const first = await start(directory);
  const second = await start(directory);
  expect(second.adopted).toBe(true);
  expect(second.databaseUrl).toBe(first.databaseUrl);

  await first.close();
  expect(await queryOne(second.databaseUrl, "select 1")).toBe("1");

  await second.close();
  await expect(queryOne(second.databaseUrl, "select 1")).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});

it("starts the server anew for one who comes while the last one leaves", async () => {
  const directory = await newProject();
  const first = await start(directory);

  const [, second] = await Promise.all([first.close(), start(directory)]);

  expect(await queryOne(second.databaseUrl, "select 1")).toBe("1");
});

it("closes once, however often it is asked to", async () => {
  const server = await start(await newProject());

  await Promise.all([server.close(), server.close()]);
  await server[Symbol.asyncDispose]();

  await expect(queryOne(server.databaseUrl, "select 1")).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});

it("tells the end of the server's log when the server does not start", async () => {
  const directory = await newProject();

  await expect(
    start(directory, { settings: { shared_buffers: "nonsense" } }),
  ).rejects.toMatchObject({
    code: "EMBEDDED_UNAVAILABLE",
    message: expect.stringMatching(
      /invalid value for parameter "shared_buffers".*postgres\.log/,
    ),
  });
});

it("says so when the running server refuses the password on file", async () => {
  const directory = await newProject();
  await start(directory);
  await writeFile(join(directory, "password"), "wrong");

  await expect(start(directory)).rejects.toMatchObject({
    code: "EMBEDDED_UNAVAILABLE",
    message: expect.stringContaining("password authentication failed"),
  });
});

it("says so when the password file is lost", async () => {
  const directory = await newProject();
  const server = await start(directory);
  await server.close();
  await rm(join(directory, "password"));

  await expect(start(directory)).rejects.toMatchObject({
    code: "EMBEDDED_UNAVAILABLE",
    message: expect.stringContaining("put it back"),
  });
});
