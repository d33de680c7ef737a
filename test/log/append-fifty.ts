/** Appends fifty parallel tool results to a session, says so, and waits to be killed. */
import { createSessionStore } from "../../src/session-store.ts";

const [databaseUrl = "", id = ""] = process.argv.slice(2);
const store = await createSessionStore({ databaseUrl });
const place = { turn: 1, step: 1 };
const calls = Array.from({ length: 50 }, (_, at) => `call-${at}`);
await store.append(
  id,
  [
    { type: "turn/start", data: { turn: 1 } },
    { type: "step/start", data: place },
    ...calls.map((callId) => ({
      type: "tool/call",
      data: { ...place, callId, name: "read", arguments: "{}" },
    })),
    ...calls.map((callId) => {
      const content = [
        {
          type: "tool-result",
          toolCallId: callId,
          content: [{ type: "text", text: callId }],
        },
      ];
      const message = {
        id: callId,
        role: "user",
        source: { kind: "tool", callId },
        content,
      };
      return {
        type: "tool/result",
        data: { ...place, message },
        surfaceOp: "append",
      } as const;
    }),
  ],
  { expectedSeq: 0 },
);
process.stdout.write("stored\n");
setInterval(() => undefined, 1_000);
