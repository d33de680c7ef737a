/**
 * Things that must appear whole or not at all are made under a scratch name beside their
 * place and then renamed. The name carries the maker's process id, so that what a killed
 * maker left behind can be told from what another one is still making.
 */
import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "./is-alive.ts";

const scratchName = /\.new-(\d+)-[0-9a-f]{8}$/;

/** A fresh name beside `path`, in the same file system. */
export function scratchPath(path: string): string {
  return `${path}.new-${process.pid}-${randomBytes(4).toString("hex")}`;
}

/** Removes what killed processes left half made in the folder; what can't be removed now stays for the next start. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const maker = scratchName.exec(name)?.[1];
    if (maker === undefined || isAlive(Number(maker))) continue;
    await removeTree(join(folder, name)).catch(() => {
      // An initdb whose parent was killed may still be writing into it.
    });
  }
}

/** Removes a file or folder, present or not. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}
