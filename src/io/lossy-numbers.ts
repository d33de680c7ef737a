/** Finds numbers in JSON text that JavaScript would not give back: reading them would change the log silently. */

export interface LossyNumber {
  /** Path from the root of the text: `data.usage.inputTokens`, `data.list[3]`. */
  readonly path: string;
  readonly token: string;
  readonly reason: string;
}

/** No other text can hold such a number: the tokens below all match, and most lines don't. */
const SUSPECT = /-0|[0-9]{16}|[0-9][eE]/;
/** The first such number of a valid JSON text, or null. */
export function findLossyNumber(text: string): LossyNumber | null {
  return SUSPECT.test(text) && holdsSuspect(text) ? firstLoss(text) : null;
}

/** The same between the strings. Few lines get here, and of those fewer get further. */
function holdsSuspect(text: string): boolean {
  for (let start = 0; ;) {
    const quote = text.indexOf('"', start);
    if (quote === -1) return SUSPECT.test(text.slice(start));
    if (SUSPECT.test(text.slice(start, quote))) return true;
    start = endOfString(text, quote);
  }
}

function firstLoss(text: string): LossyNumber | null {
  const path = new PathOfToken();
  for (const token of tokensOf(text)) {
    const reason = /^[-0-9]/.test(token) ? whatIsLost(token) : null;
    if (reason !== null) return { path: path.toString(), token, reason };
    path.follow(token);
  }
  return null;
}

const NUMBER = /-?[0-9][0-9.eE+-]*/y;

/** Strings, numbers and signs of the structure; blanks and words are passed over. The text must be JSON. */
function* tokensOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const start = at;
    const sign = text.charAt(at);
    NUMBER.lastIndex = at;
    if (sign === '"') at = endOfString(text, at);
    else at += NUMBER.exec(text)?.[0].length ?? 1;
    if (!/[a-z\s]/.test(sign)) yield text.slice(start, at);
  }
}

/** By hand: an expression that goes through strings overflows the stack at some tens of millions of characters. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ;) {
    const quote = text.indexOf('"', from);
    let escapes = 0;
    while (text.charAt(quote - 1 - escapes) === "\\") escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

function whatIsLost(token: string): string | null {
  const value = Number(token);
  if (Object.is(value, -0)) return "is -0, which JSON gives back as 0";
  if (!Number.isFinite(value))
    return `is ${token}, which is beyond the largest number`;
  const exact = digitsOf(token);
  if (value === 0 && exact.digits !== "")
    return `is ${token}, which is below the smallest number`;
  const kept = digitsOf(String(value));
  const isInteger = exact.exponent >= 0;
  const isSame =
    exact.digits === kept.digits && exact.exponent === kept.exponent;
  return isInteger && !isSame
    ? `is ${token}, which would be rounded to ${String(value)}`
    : null;
}

/** A decimal number as its significant digits and a power of ten; a fraction takes the nearest number by its nature. */
function digitsOf(token: string): {
  readonly digits: string;
  readonly exponent: number;
} {
  const [mantissa = "", power = "0"] = token.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  const exponent =
    Number(power) - fraction.length + (all.length - digits.length);
  return { digits, exponent: digits === "" ? 0 : exponent };
}

/** Follows the tokens of a JSON text and knows where each stands. */
class PathOfToken {
  /** Keys and positions down to here: an object's key as JSON text, an array's position as a number. */
  readonly #steps: (string | number)[] = [];
  #isKey = false;

  follow(token: string): void {
    const last = this.#steps.length - 1;
    const step = this.#steps[last];
    if (token === "{" || token === "[") {
      this.#steps.push(token === "{" ? '""' : 0);
      this.#isKey = token === "{";
    } else if (token === "}" || token === "]") {
      this.#steps.pop();
      this.#isKey = false;
    } else if (token === ",") {
      if (typeof step === "number") this.#steps[last] = step + 1;
      this.#isKey = typeof step === "string";
    } else if (token === ":") this.#isKey = false;
    else if (this.#isKey) this.#steps[last] = token;
  }

  toString(): string {
    return this.#steps
      .map((step) =>
        typeof step === "number" ? `[${step}]` : `.${step.slice(1, -1)}`,
      )
      .join("")
      .replace(/^\./, "");
  }
}
