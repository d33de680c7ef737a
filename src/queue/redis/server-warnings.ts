/** What an operator should know of a Redis that works, but not as it should. */

const OLDEST = [6, 2] as const;

/** Sentences about what `INFO` says of the server. */
export function serverWarnings(info: string): readonly string[] {
  const warnings: string[] = [];
  const policy = fieldOf(info, "maxmemory_policy");
  if (policy !== null && policy !== "noeviction")
    warnings.push(
      `redis may drop rings when its memory is full (maxmemory-policy is ${policy}); nothing is lost, but folding is late then: set maxmemory-policy to noeviction`,
    );
  const version = fieldOf(info, "redis_version");
  if (version !== null && isOlder(version))
    warnings.push(
      `redis is of version ${version}, older than ${OLDEST.join(".")}; upgrade it`,
    );
  return warnings;
}

function fieldOf(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? null;
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
