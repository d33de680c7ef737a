/**
 * The Unix account the server runs as. Postgres refuses to run as root, so root hands it
 * to somebody unprivileged; everybody else runs it as themselves.
 */
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { EmbeddedUnavailableError } from "../errors.ts";

/** An account by number; `name` is for messages. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** What `spawn` needs to run a program as the account; nothing when it runs as ourselves. */
export function identityOf(
  account: Account | null,
): Pick<SpawnOptions, "uid" | "gid"> {
  return account === null ? {} : { uid: account.uid, gid: account.gid };
}

/** True when this process is root on a Unix system. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The account for a new cluster of root's: `postgres`, else `nobody`.
 * @throws EMBEDDED_UNAVAILABLE when /etc/passwd lists neither.
 */
export async function unprivilegedAccount(): Promise<Account> {
  const passwd = await readFile("/etc/passwd", "utf8");
  const account =
    accountNamed(passwd, "postgres") ?? accountNamed(passwd, "nobody");
  if (account === null) {
    throw new EmbeddedUnavailableError(
      "Postgres does not run as root, and /etc/passwd lists neither an account postgres nor nobody to run it as.",
    );
  }
  return account;
}

/** Whether the account can enter the folder. Asked of the kernel by trying, so that access lists count too. */
export async function canEnter(
  account: Account,
  folder: string,
): Promise<boolean> {
  const child = spawn("/bin/sh", ["-c", 'cd "$1"', "sh", folder], {
    ...identityOf(account),
    cwd: "/",
    env: {},
    stdio: "ignore",
  });
  const [code]: unknown[] = await once(child, "exit");
  return code === 0;
}

function accountNamed(passwd: string, name: string): Account | null {
  for (const line of passwd.split("\n")) {
    const [entry, , uid, gid] = line.split(":");
    // macOS writes nobody as -2, which neither spawn nor chown of Node takes.
    if (entry === name && Number(uid) > 0 && Number(gid) > 0) {
      return { name, uid: Number(uid), gid: Number(gid) };
    }
  }
  return null;
}
