/**
 * What the schemas of event data are built from. Each builder takes the meaning of the field, which the table of
 * docs/event-types.md prints, and `shape`, its type in words. Objects keep keys they don't know unless they are exact.
 */
import { z } from "zod";
import { isJsonObject, type JsonValue } from "../json.ts";
import { reasonOf } from "./reasons.ts";

/** Where in a log an event may stand. */
export type Place =
  | "anywhere"
  | "in a turn"
  | "in its turn"
  | "in its step"
  | "between turns"
  | "in a compaction";

/** The data of an event: when the event is written, and where in the log it may stand. */
export function eventOf<S extends z.ZodType>(
  place: Place,
  when: string,
  schema: S,
): S {
  return schema.meta({ description: when, place });
}

/** An object with these fields; others are kept. */
export function open<S extends z.ZodRawShape>(fields: S, meaning = "") {
  return z.looseObject(fields).meta({ description: meaning, shape: "object" });
}

/** An object with these fields and no others. */
export function exact<S extends z.ZodRawShape>(fields: S, meaning = "") {
  return z
    .strictObject(fields)
    .meta({ description: meaning, shape: "object, no other keys" });
}

/** Fields that are told of but not checked here: name, shape, meaning. */
export type Told = readonly (readonly [string, string, string])[];

/** An object that is checked elsewhere or not at all. */
export function objectOf<T extends object>(meaning: string, told: Told = []) {
  return z
    .custom<T>(isJsonObject, "must be an object")
    .meta({ description: meaning, shape: "object", told });
}

/** Any JSON. */
export function json(meaning: string) {
  return z
    .custom<JsonValue>((value) => value !== undefined, "must be present")
    .meta({ description: meaning, shape: "any JSON" });
}

/** An array whose items are alike. */
export function listOf<S extends z.ZodType>(item: S, meaning: string) {
  return z.array(item).meta({ description: meaning, shape: "array" });
}

/** Any string, the empty one too. */
export function text(meaning: string) {
  return z.string().meta({ description: meaning, shape: "string" });
}

/** A string of at least one character. */
export function nonEmptyText(meaning: string) {
  return z
    .string()
    .refine((value) => value !== "", "must be a non-empty string")
    .meta({ description: meaning, shape: "non-empty string" });
}

/** A string that neither is empty nor begins or ends with white space. */
export function trimmedText(meaning: string) {
  return z
    .string()
    .refine(
      (value) => value !== "" && value === value.trim(),
      "must be non-empty, without white space at its ends",
    )
    .meta({ description: meaning, shape: "trimmed non-empty string" });
}

export function flag(meaning: string) {
  return z.boolean().meta({ description: meaning, shape: "boolean" });
}

/** Nothing but `true`; absent means false. */
export function onlyTrue(meaning: string) {
  return z.literal(true).meta({ description: meaning, shape: "`true`" });
}

/** Any finite number. */
export function number(meaning: string) {
  return z.number().meta({ description: meaning, shape: "number" });
}

/** An integer from 1: a turn, a step, a round, a revision. */
export function ordinal(meaning: string) {
  return z
    .number()
    .refine(isOrdinal, "must be an integer of at least 1")
    .meta({ description: meaning, shape: "integer ≥ 1" });
}

/** True for an integer of at least 1. */
export function isOrdinal(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1;
}

/** A non-negative safe integer: a seq, a position, a number of things. */
export function count(meaning: string) {
  return z
    .number()
    .refine(
      (value) => Number.isSafeInteger(value) && value >= 0,
      "must be a non-negative safe integer",
    )
    .meta({ description: meaning, shape: "integer ≥ 0" });
}

/** One of a closed set of words. */
export function oneOf<const V extends readonly [string, ...string[]]>(
  values: V,
  meaning: string,
) {
  return z.literal(values).meta({
    description: meaning,
    shape: values.map((value) => `\`${value}\``).join(", "),
  });
}

/**
 * An object of one of these forms, by the string under `key`. Other forms pass, with whatever they hold, though the
 * type does not list them: a `switch` over forms needs a default.
 */
export function openForms<F extends Readonly<Record<string, z.ZodType>>>(
  key: string,
  forms: F,
  meaning: string,
) {
  const byName = new Map<string, z.ZodType>(Object.entries(forms));
  return z
    .custom<z.output<F[keyof F]>>()
    .check((payload) => {
      const value: unknown = payload.value;
      if (!isJsonObject(value)) return refuse(payload, [], "must be an object");
      const name = value[key];
      if (typeof name !== "string")
        return refuse(payload, [key], "must be a string");
      const issue = byName.get(name)?.safeParse(value).error?.issues[0];
      if (issue) refuse(payload, issue.path, reasonOf(issue));
    })
    .meta({ description: meaning, shape: "object", forms, key });
}

/** Adds a problem to what a check has found. */
export function refuse(
  payload: z.core.ParsePayload,
  path: readonly PropertyKey[],
  reason: string,
): void {
  payload.issues.push({
    code: "custom",
    path: [...path],
    message: reason,
    input: payload.value,
  });
}

/** Number of the turn. */
export const turn = ordinal("Number of the turn");

/** Number of the step in its turn. */
export const step = ordinal("Number of the step in its turn");

/** Tokens of a request; never fatal, whatever it holds. */
export const usageReport = json(
  "Tokens of the request as the provider reports them; numbers that can't be counts are kept and flagged",
).optional();
