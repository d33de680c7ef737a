/** Texts in the sizes of real ones: prose as a model streams it, code, and what tools print. */
import type { Random } from "./random.ts";
import { identifierOf, wordOf } from "./words.ts";

/** Prose as tokens, as many as asked for: what a model streams as one delta each. */
export function proseTokens(random: Random, count: number): string[] {
  const tokens: string[] = [];
  let opens = true;
  while (tokens.length < count) {
    const bits = random.bits();
    const form = bits & 0x3f;
    if (form < 5 && !opens) {
      tokens.push(form < 2 ? "." : ",");
      if (form === 0) tokens.push("\n\n");
      opens = form === 0;
      continue;
    }
    if (form === 60) tokens.push(" `", identifierOf(random.bits()), "`");
    else if (form === 61) tokens.push(" ", String(random.below(1_000)));
    else pushWord(tokens, wordOf(bits), opens);
    opens = false;
  }
  tokens.length = count;
  return tokens;
}

/** One line of prose without breaks. */
export function sentence(random: Random, words: number): string {
  const text = Array.from({ length: words }, () => wordOf(random.bits()));
  return text.join(" ");
}

/** Lines of code, about as many characters as asked for. */
export function codeText(random: Random, characters: number): string {
  const lines: string[] = [];
  let length = 0;
  while (length < characters) {
    const line = codeLine(random);
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join("\n").slice(0, characters);
}

/** What a tool prints: a file, a listing, or the output of a run. */
export function outputText(random: Random, characters: number): string {
  const form = random.below(3);
  if (form === 0)
    return numbered(codeText(random, characters)).slice(0, characters);
  const lines: string[] = [];
  for (let length = 0; length < characters;) {
    const line = form === 1 ? pathOf(random) : resultLine(random);
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join("\n").slice(0, characters);
}

/** A path of a source file. */
export function pathOf(random: Random): string {
  const folder = random.pick(["src", "test", "lib", "packages/core/src"]);
  return `${folder}/${wordOf(random.bits())}/${identifierOf(random.bits())}.ts`;
}

/** Cuts JSON text where a model would: names in pieces, punctuation in ones and twos. */
export function jsonTokens(text: string): readonly string[] {
  return (
    text.match(/ ?[A-Za-z]{1,5}|\d{1,3}|\\.|[^A-Za-z\d\\]{1,2}|./gsu) ?? []
  );
}

/** Long words come in two pieces. */
function pushWord(tokens: string[], word: string, opens: boolean): void {
  const text = opens
    ? word.charAt(0).toUpperCase() + word.slice(1)
    : ` ${word}`;
  if (text.length <= 9) tokens.push(text);
  else tokens.push(text.slice(0, 6), text.slice(6));
}

function codeLine(random: Random): string {
  const bits = random.bits();
  const [a, b, c] = [bits, random.bits(), random.bits()].map(identifierOf);
  const indent = "  ".repeat(bits & 3);
  switch ((bits >>> 8) % 12) {
    case 0:
      return "";
    case 1:
      return `${indent}const ${a} = await ${b}(${c}, ${bits % 97});`;
    case 2:
      return `${indent}if (${a}.${b} !== ${c}) return null;`;
    case 3:
      return `${indent}// ${sentence(random, 7)}`;
    case 4:
      return `${indent}for (const ${a} of ${b}.${c}) {`;
    case 5:
      return `${indent}}`;
    case 6:
      return `${indent}${a}.push({ ${b}: ${c}, at: "${wordOf(bits)}" });`;
    case 7:
      return `import { ${a} } from "./${b}.ts";`;
    case 8:
      return `${indent}expect(${a}(${bits % 1_009})).toEqual([${c}]);`;
    case 9:
      return `${indent}throw new ${c}Error(\`${sentence(random, 4)}\`);`;
    case 10:
      return `export function ${a}(${b}: ${c}): ${wordOf(bits)} {`;
    default:
      return `${indent}return ${a} ?? ${b}[${c}];`;
  }
}

function numbered(code: string): string {
  return code
    .split("\n")
    .map((line, at) => `${String(at + 1).padStart(5)}\t${line}`)
    .join("\n");
}

function resultLine(random: Random): string {
  const bits = random.bits();
  const mark = bits % 19 === 0 ? "FAIL" : "ok";
  return ` ${mark} ${pathOf(random)} ${sentence(random, 5)} (${bits % 1_500} ms)`;
}
