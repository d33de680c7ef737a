/** Peers that are installed in bench/ alone are loaded by name, so that the rest works and is checked without them. */
import type { ContenderKind } from "./contender.ts";

/** @throws Error that says how to install the peers */
export async function loadPeer(name: string): Promise<ContenderKind> {
  const file = `../../peers/${name}.ts`;
  const module: unknown = await import(file).catch((cause: unknown) => {
    throw new Error(
      `${name} can't be loaded; install the peers with: npm ci --prefix bench`,
      { cause },
    );
  });
  if (!isPeer(module)) throw new TypeError(`${file} exports no peer`);
  return module.peer;
}

function isPeer(module: unknown): module is { readonly peer: ContenderKind } {
  return (
    typeof module === "object" &&
    module !== null &&
    "peer" in module &&
    typeof module.peer === "object"
  );
}
