/** A logger that keeps what the Redis queue says of itself. */
import { silentLogger, type Logger } from "../../src/logger.ts";

export interface RecordingLogger extends Logger {
  /** Messages from info on, in order. */
  readonly messages: string[];
}

export function recordingLogger(): RecordingLogger {
  const messages: string[] = [];
  const note = (_fields: object, message: string): void => {
    messages.push(message);
  };
  return { ...silentLogger, info: note, warn: note, error: note, messages };
}
