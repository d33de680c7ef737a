/**
 * As root: the server runs as somebody else, who must be able to reach everything. These
 * tests need root; they say so in their names where they are skipped.
 */
import { chmod, chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRoot, unprivilegedAccount } from "../../src/embedded/account.ts";
import { queryOne } from "./query.ts";
import {
  hold,
  newDirectory,
  newProject,
  removeAfterwards,
  start,
} from "./workspace.ts";

describe.skipIf(!isRoot())(
  "root (skipped unless the tests run as root)",
  () => {
    it("runs the server as an unprivileged account, in the wanted directory", async () => {
      const directory = await newDirectory();

      const { dataDirectory } = await start(directory);

      const { uid } = await unprivilegedAccount();
      expect(dataDirectory).toBe(join(directory, "postgres"));
      expect((await stat(dataDirectory)).uid).toBe(uid);
    });

    it("moves to /var/lib/turnlog, and says so, where that account can't enter", async () => {
      const home = await newDirectory(0o700);
      const notices: string[] = [];

      const server = await start(join(home, ".turnlog"), {
        onNotice: (line) => notices.push(line),
      });

      removeAfterwards(join(server.dataDirectory, ".."));
      expect(server.dataDirectory).toMatch(
        /^\/var\/lib\/turnlog\/[0-9a-f]{16}\/postgres$/,
      );
      expect(notices).toEqual([
        expect.stringContaining(join(server.dataDirectory, "..")),
      ]);
      expect(await queryOne(server.databaseUrl, "select 1")).toBe("1");
    });

    it("finds the data in /var/lib/turnlog again when the directory is opened later", async () => {
      const home = await newDirectory(0o700);
      const first = await start(home);
      removeAfterwards(join(first.dataDirectory, ".."));
      await first.close();
      await chmod(home, 0o755);

      const second = await start(home);

      expect(second.dataDirectory).toBe(first.dataDirectory);
    });

    it("refuses to begin anew when the data's directory was shut later", async () => {
      const directory = await newProject();
      await chmod(directory, 0o700);

      await expect(start(directory)).rejects.toMatchObject({
        code: "EMBEDDED_UNAVAILABLE",
        message: expect.stringContaining("can't enter any more"),
      });
    });

    it("uses a normal user's cluster as that user", async () => {
      const nobody = { uid: 65_534, gid: 65_534 };
      const directory = await newDirectory();
      await chown(directory, nobody.uid, nobody.gid);
      const holder = await hold(directory, nobody);

      const { adopted } = await start(directory);

      expect(adopted).toBe(true);
      await holder.finish();
      expect((await stat(join(directory, "postgres"))).uid).toBe(nobody.uid);
    });

    it("keeps all a normal user has in the user's directory", async () => {
      const nobody = { uid: 65_534, gid: 65_534 };
      const home = await newDirectory(0o700);
      await chown(home, nobody.uid, nobody.gid);
      const directory = join(home, ".turnlog");

      const holder = await hold(directory, nobody);

      expect(holder.dataDirectory).toBe(join(directory, "postgres"));
      expect((await readdir(directory)).toSorted()).toEqual([
        "password",
        "postgres",
        "postgres.log",
      ]);
      await holder.finish();
    });
  },
);
