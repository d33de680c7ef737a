/** What has been folded and not written yet: rows and checkpoints of many sessions, for all builds of a rebuild. */
import { RowBuffer, type RowChange } from "../projector/row-buffer.ts";
import type { NewBuild } from "./rebuild-row.ts";
import type { ReplaySession } from "./replay-sessions.ts";

/** From any of these a chunk is written. What a session changed twice counts twice. */
const FULL_CHARACTERS = 16 * 1024 * 1024;
const FULL_CHANGES = 20_000;
const FULL_CHECKPOINTS = 4_000;

/** How far a build has come with a session, from where. */
export interface ChunkCheckpoint {
  readonly session: ReplaySession;
  readonly build: number;
  readonly fromSeq: number;
  readonly nextSeq: number;
  readonly state: string;
}

export class Chunk {
  readonly checkpoints: ChunkCheckpoint[] = [];
  readonly #buffers = new Map<NewBuild, RowBuffer>();
  #characters = 0;
  #changes = 0;

  addChange(build: NewBuild, change: RowChange): void {
    this.#changes += 1;
    for (const value of Object.values(change.values))
      this.#characters += typeof value === "string" ? value.length : 8;
    this.bufferOf(build).add(change);
  }

  addCheckpoint(checkpoint: ChunkCheckpoint): void {
    this.#characters += checkpoint.state.length;
    this.checkpoints.push(checkpoint);
  }

  bufferOf(build: NewBuild): RowBuffer {
    const buffer = this.#buffers.get(build) ?? new RowBuffer();
    this.#buffers.set(build, buffer);
    return buffer;
  }

  get isFull(): boolean {
    return (
      this.#characters >= FULL_CHARACTERS ||
      this.#changes >= FULL_CHANGES ||
      this.checkpoints.length >= FULL_CHECKPOINTS
    );
  }
}
