/** Counts what goes over the wire: a proxy between client and server that reads the client's side of the protocol. */
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

export interface WireCounts {
  /** How often the client began to speak after the server had answered. */
  readonly roundTrips: number;
  /** Statements that were executed, simple ones and extended ones. */
  readonly statements: number;
}

/** Runs the work with a URL that leads through the proxy; what it does before `counting` is called is left out. */
export async function countRoundTrips(
  databaseUrl: string,
  work: (throughProxy: string, counting: () => void) => Promise<void>,
): Promise<WireCounts> {
  const counts = { roundTrips: 0, statements: 0 };
  const target = new URL(databaseUrl);
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    sockets.push(client, server);
    relay(client, server, counts);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  if (address === null || typeof address === "string")
    throw new Error("the proxy listens on no port");
  const url = new URL(databaseUrl);
  url.port = String(address.port);
  try {
    await work(url.href, () => {
      counts.roundTrips = 0;
      counts.statements = 0;
    });
    return { ...counts };
  } finally {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  }
}

function relay(
  client: Socket,
  server: Socket,
  counts: { roundTrips: number; statements: number },
): void {
  const reader = new FrontendReader();
  let serverSpoke = true;
  client.on("data", (data) => {
    if (serverSpoke) counts.roundTrips += 1;
    serverSpoke = false;
    counts.statements += reader.statementsIn(Buffer.from(data));
    server.write(data);
  });
  server.on("data", (data) => {
    serverSpoke = true;
    client.write(data);
  });
  for (const socket of [client, server])
    socket
      .on("error", () => undefined)
      .on("close", () => {
        client.destroy();
        server.destroy();
      });
}

/** Cuts the client's bytes into messages: a tag and a length, but for the first one, which has no tag. */
class FrontendReader {
  #rest: Buffer = Buffer.alloc(0);
  #started = false;

  statementsIn(data: Buffer): number {
    this.#rest = Buffer.concat([this.#rest, data]);
    let statements = 0;
    for (;;) {
      const tagBytes = this.#started ? 1 : 0;
      if (this.#rest.length < tagBytes + 4) return statements;
      const end = tagBytes + this.#rest.readInt32BE(tagBytes);
      if (this.#rest.length < end) return statements;
      const tag = this.#started ? String.fromCharCode(this.#rest[0] ?? 0) : "";
      if (tag === "Q" || tag === "E") statements += 1;
      this.#rest = this.#rest.subarray(end);
      this.#started = true;
    }
  }
}
