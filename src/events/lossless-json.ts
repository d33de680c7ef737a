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

/**
 * Returns a detached copy of `value`.
 * @throws NotLosslessError for -0, NaN, infinities, undefined, bigint, symbols, functions, sparse or decorated
 * arrays, class instances, hidden or symbol keys, cycles, and nesting beyond MAX_JSON_DEPTH.
 */
export function detachJson(value: unknown): JsonValue {
  const copy = copySimple(value, 0);
  return copy === undefined ? detachIteratively(value) : copy;
}

/** Levels that the quick copy descends by recursion; what goes deeper, cycles included, is for the other one. */
const SIMPLE_DEPTH = 64;

/** Copies what is plain and shallow, as nearly everything is; undefined for anything that needs a closer look. */
function copySimple(value: unknown, depth: number): JsonValue | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null)
    return value;
  if (typeof value === "number")
    return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined;
  if (typeof value !== "object" || depth === SIMPLE_DEPTH) return undefined;
  return Array.isArray(value)
    ? copySimpleArray(value, depth)
    : copySimpleObject(value, depth);
}

function copySimpleArray(
  source: readonly unknown[],
  depth: number,
): JsonValue | undefined {
  if (Object.getPrototypeOf(source) !== Array.prototype) return undefined;
  if (Reflect.ownKeys(source).length !== source.length + 1) return undefined;
  const copy: JsonValue[] = [];
  for (const item of source) {
    const inner = copySimple(item, depth + 1);
    if (inner === undefined) return undefined;
    copy.push(inner);
  }
  return copy;
}

function copySimpleObject(
  source: object,
  depth: number,
): JsonValue | undefined {
  if (Object.getPrototypeOf(source) !== Object.prototype) return undefined;
  const keys = Object.keys(source);
  if (Reflect.ownKeys(source).length !== keys.length) return undefined;
  const copy: Record<string, JsonValue> = {};
  for (const key of keys) {
    const inner =
      key === "__proto__"
        ? undefined
        : copySimple(Reflect.get(source, key), depth + 1);
    if (inner === undefined) return undefined;
    copy[key] = inner;
  }
  return copy;
}

interface Frame {
  readonly source: object;
  /** Null for an array. */
  readonly keys: readonly string[] | null;
  readonly size: number;
  readonly put: (key: string | number, value: JsonValue) => void;
  readonly parent: Frame | null;
  readonly depth: number;
  next: number;
}

function detachIteratively(value: unknown): JsonValue {
  let result: JsonValue = null;
  const ancestors = new Set<object>();
  const root: Frame = {
    source: { value },
    keys: ["value"],
    size: 1,
    put: (_key, copy) => (result = copy),
    parent: null,
    depth: 0,
    next: 0,
  };
  let frame: Frame | null = root;
  while (frame !== null) {
    if (frame.next === frame.size) {
      ancestors.delete(frame.source);
      frame = frame.parent;
      continue;
    }
    const key: string | number =
      frame.keys === null ? frame.next : (frame.keys[frame.next] ?? "");
    frame.next += 1;
    const item: unknown = Reflect.get(frame.source, key);
    if (typeof item === "object" && item !== null) {
      if (ancestors.has(item))
        throw new NotLosslessError(pathOf(frame), "refers back to itself");
      if (frame.depth >= MAX_JSON_DEPTH)
        throw new NotLosslessError(
          pathOf(frame),
          `is nested deeper than ${MAX_JSON_DEPTH} levels`,
        );
      ancestors.add(item);
      frame = open(item, frame, key);
    } else {
      frame.put(key, scalar(item, frame));
    }
  }
  return result;
}

function scalar(item: unknown, frame: Frame): JsonValue {
  if (typeof item === "string" || typeof item === "boolean" || item === null)
    return item;
  if (typeof item === "number") {
    if (!Number.isFinite(item))
      throw new NotLosslessError(
        pathOf(frame),
        `is ${item}, which JSON can't hold`,
      );
    if (Object.is(item, -0))
      throw new NotLosslessError(pathOf(frame), "is -0, which JSON can't hold");
    return item;
  }
  throw new NotLosslessError(
    pathOf(frame),
    `is ${typeof item}, which JSON can't hold`,
  );
}

function open(source: object, parent: Frame, key: string | number): Frame {
  const common = { source, parent, depth: parent.depth + 1, next: 0 };
  if (Array.isArray(source)) {
    if (
      !Array.isArray(Object.getPrototypeOf(source)) ||
      Reflect.ownKeys(source).length !== source.length + 1
    )
      throw new NotLosslessError(pathOf(parent), "is not a plain dense array");
    const copy: JsonValue[] = [];
    parent.put(key, copy);
    return {
      ...common,
      keys: null,
      size: source.length,
      put: (_index, item) => copy.push(item),
    };
  }
  if (!isPlainPrototype(Object.getPrototypeOf(source)))
    throw new NotLosslessError(pathOf(parent), "is not a plain object");
  const keys = Object.keys(source);
  if (Reflect.ownKeys(source).length !== keys.length)
    throw new NotLosslessError(
      pathOf(parent),
      "has symbol keys or hidden properties",
    );
  const copy: Record<string, JsonValue> = {};
  parent.put(key, copy);
  return {
    ...common,
    keys,
    size: keys.length,
    put: (name, item) => define(copy, String(name), item),
  };
}

/** `Object.prototype` of any realm, or none. */
function isPlainPrototype(prototype: object | null): boolean {
  if (prototype === null || prototype === Object.prototype) return true;
  return (
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, "isPrototypeOf")
  );
}

/** Plain assignment of `__proto__` would set the prototype instead of a property. */
function define(
  copy: Record<string, JsonValue>,
  key: string,
  value: JsonValue,
): void {
  if (key === "__proto__")
    Object.defineProperty(copy, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else copy[key] = value;
}

/** Path of the property that was read last, up to the root. */
function pathOf(frame: Frame): string {
  const steps: string[] = [];
  for (
    let at: Frame | null = frame;
    at !== null && at.parent !== null;
    at = at.parent
  ) {
    steps.push(
      at.keys === null ? `[${at.next - 1}]` : `.${at.keys[at.next - 1] ?? ""}`,
    );
  }
  return steps.toReversed().join("");
}
