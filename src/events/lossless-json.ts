/**
 * Takes a caller's value over: checks that JSON gives back exactly it, and copies it, reading each property once,
 * so that neither a later change by the caller nor a getter can alter what is stored. Works without recursion.
 */
import type { JsonValue } from "./json.ts";

/** Levels of nesting that are accepted; deeper values could not be serialised safely everywhere. */
export const MAX_JSON_DEPTH = 5_000;

/** A value that JSON would not give back. `path` starts at the value: `.chunk.text`, `[3]`. */
export class NotLosslessError extends Error {
  readonly path: string;
  readonly reason: string;
  constructor(path: string, reason: string) {
    super(`${path} ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/** A container on the way down: where it came from, its copy, and which of its items comes next. */
interface Frame {
  readonly source: object;
  readonly copy: JsonValue[] | Record<string, JsonValue>;
  /** Null for an array. */
  readonly keys: readonly string[] | null;
  readonly size: number;
  readonly parent: Frame | null;
  readonly depth: number;
  next: number;
}

/**
 * Returns a detached copy of `value`.
 * @throws NotLosslessError for -0, NaN, infinities, undefined, bigint, symbols, functions, sparse or decorated
 * arrays, class instances, hidden or symbol keys, cycles, and nesting beyond MAX_JSON_DEPTH.
 */
export function detachJson(value: unknown): JsonValue {
  if (typeof value !== "object" || value === null) return scalar(value, null);
  let frame = enter(value, null);
  for (;;) {
    if (frame.next === frame.size) {
      if (frame.parent === null) return frame.copy;
      frame = frame.parent;
      continue;
    }
    const key =
      frame.keys === null ? frame.next : (frame.keys[frame.next] ?? "");
    frame.next += 1;
    const item: unknown = Reflect.get(frame.source, key);
    if (typeof item === "object" && item !== null) {
      const child = enter(item, frame);
      put(frame.copy, key, child.copy);
      frame = child;
    } else put(frame.copy, key, scalar(item, frame));
  }
}

function enter(source: object, parent: Frame | null): Frame {
  const depth = parent === null ? 1 : parent.depth + 1;
  if (depth > MAX_JSON_DEPTH)
    throw new NotLosslessError(
      pathOf(parent),
      `is nested deeper than ${MAX_JSON_DEPTH} levels`,
    );
  for (let at = parent; at !== null; at = at.parent) {
    if (at.source === source)
      throw new NotLosslessError(pathOf(parent), "refers back to itself");
  }
  if (Array.isArray(source)) {
    if (
      !isPlain(source, Array.prototype, "Array") ||
      Reflect.ownKeys(source).length !== source.length + 1
    )
      throw new NotLosslessError(pathOf(parent), "is not a plain dense array");
    return {
      source,
      copy: [],
      keys: null,
      size: source.length,
      parent,
      depth,
      next: 0,
    };
  }
  if (!isPlain(source, Object.prototype, "Object"))
    throw new NotLosslessError(pathOf(parent), "is not a plain object");
  const keys = Object.keys(source);
  // Three times as fast as to ask for all keys at once.
  if (
    Object.getOwnPropertyNames(source).length !== keys.length ||
    Object.getOwnPropertySymbols(source).length > 0
  )
    throw new NotLosslessError(
      pathOf(parent),
      "has symbol keys or hidden properties",
    );
  return { source, copy: {}, keys, size: keys.length, parent, depth, next: 0 };
}

function scalar(item: unknown, frame: Frame | null): JsonValue {
  if (typeof item === "string" || typeof item === "boolean" || item === null)
    return item;
  if (typeof item !== "number")
    throw new NotLosslessError(
      pathOf(frame),
      `is ${typeof item}, which JSON can't hold`,
    );
  if (!Number.isFinite(item))
    throw new NotLosslessError(
      pathOf(frame),
      `is ${item}, which JSON can't hold`,
    );
  if (Object.is(item, -0))
    throw new NotLosslessError(pathOf(frame), "is -0, which JSON can't hold");
  return item;
}

/** Plain assignment of `__proto__` would set the prototype instead of a property. */
function put(
  copy: Frame["copy"],
  key: string | number,
  value: JsonValue,
): void {
  if (Array.isArray(copy)) copy.push(value);
  else if (key === "__proto__")
    Object.defineProperty(copy, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else copy[key] = value;
}

/** Has the given prototype, that of the same name in another realm, or, for an object, none. */
function isPlain(
  source: object,
  own: object,
  name: "Array" | "Object",
): boolean {
  const prototype: object | null = Object.getPrototypeOf(source);
  if (prototype === own) return true;
  if (prototype === null) return name === "Object";
  const constructor: unknown = Reflect.get(prototype, "constructor");
  return (
    Object.hasOwn(prototype, "constructor") &&
    typeof constructor === "function" &&
    constructor.prototype === prototype &&
    Function.prototype.toString.call(constructor) ===
      `function ${name}() { [native code] }`
  );
}

/** Longest path in an error: that of a deeply nested value says no more when it is longer. */
const MAX_PATH = 200;

/** Path of the property that was read last, up to the root. */
function pathOf(frame: Frame | null): string {
  const steps: string[] = [];
  for (let at = frame; at !== null; at = at.parent) {
    steps.push(
      at.keys === null ? `[${at.next - 1}]` : `.${at.keys[at.next - 1] ?? ""}`,
    );
  }
  const path = steps.toReversed().join("");
  return path.length <= MAX_PATH ? path : `${path.slice(0, MAX_PATH)}…`;
}
