/** The vocabulary of generated texts: own words, and names put together from them. */
import { createRandom } from "./random.ts";

/** From the most to the least frequent. */
const WORDS = `
the to a is of and in it that this for with on be as not so if I we are one from have can by at an
file test when then value use now all line which should function first before there code run read
each but only name same row check after where out need into will has change error call new still
list next its other also what time type case because how more key been end path result time set
does would add more let look two found make table any write some both here call back works must
between order query page without return request command output session server index build wrong
right empty event folder below above never already instead follow finish second third batch number
small large whole single again later since while until once whether around beyond within almost
module client cache queue token lock limit field header column record schema branch commit version
message answer question reader writer worker process thread signal timer clock delay window border
parser lexer buffer stream socket channel bucket ledger cursor marker anchor bridge carrier ticket
invoice parcel harbour orchard lantern meadow compass pebble kettle saddle garden window barrel
copper timber velvet marble amber cobalt walnut cedar maple willow thistle clover heron falcon otter
badger sparrow lobster cricket beetle salmon trout lemon pepper ginger saffron barley oats butter
rewrite refactor rename remove extract inline restore compare measure collect resolve publish listen
retry verify confirm decide prepare reduce combine separate translate schedule postpone acknowledge
carefully directly exactly clearly roughly probably slowly quickly mostly rarely usually simply
consistent missing stale broken partial durable visible hidden private public remote local nested
boundary behaviour expectation assumption constraint invariant consequence alternative explanation
configuration implementation documentation synchronisation registration initialisation verification
café naïve façade → ✓ … déjà`
  .trim()
  .split(/\s+/);

/** Slots of the table below; a power of two, so that a slot is cut from random bits. */
const SLOT_BITS = 13;

/** Words as often as they are used: the slot of a random number holds a word by Zipf's law. */
const slots = zipf(WORDS, 2 ** SLOT_BITS);

/** A word for 32 random bits. */
export function wordOf(bits: number): string {
  return slots[bits >>> (32 - SLOT_BITS)] ?? "the";
}

/** Names as code has them, put together once; they recur within a text as they do in real ones. */
const identifiers = names(600);

/** An identifier for 32 random bits. */
export function identifierOf(bits: number): string {
  return identifiers[bits % identifiers.length] ?? "value";
}

function zipf(words: readonly string[], size: number): readonly string[] {
  const weights = words.map((_word, rank) => 1 / (rank + 3));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return words.flatMap((word, rank) => {
    const share = (weights[rank] ?? 0) / total;
    return Array<string>(Math.max(1, Math.round(share * size))).fill(word);
  });
}

function names(count: number): readonly string[] {
  const random = createRandom(7);
  const plain = WORDS.filter((word) => /^[a-z]{3,9}$/.test(word)).slice(90);
  const word = (): string => plain[random.below(plain.length)] ?? "value";
  return Array.from({ length: count }, () => {
    const [first, second] = [word(), word()];
    const camel = second.charAt(0).toUpperCase() + second.slice(1);
    return random.chance(0.35) ? `${first}_${second}` : first + camel;
  });
}
