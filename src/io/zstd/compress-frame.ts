/** Makes one Zstandard frame with a checksum, which readers of compressed logs insist on. */
import { Zstd } from "@hpcc-js/wasm-zstd";
import xxhash from "xxhash-wasm";
import { CHECKSUM_BIT, CHECKSUM_BYTES } from "./scan-frames.ts";

/** Position of the descriptor in a frame, behind the magic number. */
const DESCRIPTOR_AT = 4;

/** The same bytes always give the same frame. */
export async function compressFrame(bytes: Uint8Array): Promise<Buffer> {
  const [zstd, hashes] = await Promise.all([Zstd.load(), xxhash()]);
  const frame = zstd.compress(bytes);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  const hash = hashes.create64().update(bytes).digest();
  checksum.writeUInt32LE(Number(hash & 0xffff_ffffn));
  frame[DESCRIPTOR_AT] = (frame[DESCRIPTOR_AT] ?? 0) | CHECKSUM_BIT;
  return Buffer.concat([frame, checksum]);
}
