/** A TCP proxy before Postgres that can lose requests and answers, as a network does. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface FlakyProxy extends AsyncDisposable {
  /** The database behind the proxy. */
  readonly url: string;
  /** What becomes of answers from now on: passed on, lost with the connection, or lost in silence. */
  answers: "pass" | "cut" | "swallow";
  /** What becomes of requests from now on: passed on, or lost with the connection. */
  requests: "pass" | "cut";
  /** Server that connections from now on lead to, by its URL. */
  server: string;
}

export async function startFlakyProxy(
  databaseUrl: string,
): Promise<FlakyProxy> {
  const sockets = new Set<Socket>();
  const proxy: Pick<FlakyProxy, "answers" | "requests" | "server"> = {
    answers: "pass",
    requests: "pass",
    server: databaseUrl,
  };
  const server = createServer((client) => {
    const target = new URL(proxy.server);
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (request) => {
      if (proxy.requests === "pass") upstream.write(request);
      else client.destroy();
    });
    upstream.on("data", (answer) => {
      if (proxy.answers === "pass") client.write(answer);
      if (proxy.answers === "cut") client.destroy();
    });
    upstream.on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return Object.assign(proxy, {
    url: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
}
