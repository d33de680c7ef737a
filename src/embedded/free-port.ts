/** A free port of the loopback interface. */
import { once } from "node:events";
import { createServer } from "node:net";

/** A port that the kernel says is free now; another program may take it before the server does. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") {
    throw new TypeError("A TCP server has no port.");
  }
  return address.port;
}
