import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The failure of the next request to a server. */
export type Cut =
  /** The server executes it, and its response is lost. */
  | 'response'
  /** The connection ends while the request is in transit; the server receives it when `deliver` is called. */
  | 'question';

/** A proxy between clients and a local server that can lose messages. */
export interface CuttingProxy {
  readonly port: number;
  /** Loses the next request that contains this text. Resolves when the client has lost its connection. */
  cut(what: Cut, text: string): Promise<void>;
  /** Resolves when the server has responded to the next request that contains this text. */
  passed(text: string): Promise<void>;
  /** Delivers the held request to the server, and resolves when the server has responded. */
  deliver(): Promise<void>;
  close(): Promise<void>;
}

export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let pendingCut: { readonly what: Cut; readonly text: string; readonly done: () => void } | undefined;
  let expected: { readonly text: string; readonly done: () => void } | undefined;
  let deliver: (() => Promise<void>) | undefined;

  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    let cutting = false;
    const end = () => {
      client.destroy();
      if (!cutting) server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (request) => {
      if (expected && request.includes(expected.text)) {
        server.once('data', expected.done);
        expected = undefined;
      }
      if (!pendingCut || !request.includes(pendingCut.text)) return void server.write(request);
      const { what, done } = pendingCut;
      pendingCut = undefined;
      cutting = true;
      const lose = () => {
        client.destroy();
        done();
      };
      if (what === 'response') {
        // Its response shows that it has executed the request.
        server.once('data', () => {
          lose();
          server.destroy();
        });
        server.write(request);
        return;
      }
      deliver = async () => {
        const responded = once(server, 'data');
        server.write(request);
        await responded;
        server.destroy();
      };
      lose();
    });
    server.on('data', (response) => {
      if (!cutting) client.write(response);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');

  return {
    port: (proxy.address() as AddressInfo).port,
    cut: (what, text) =>
      new Promise((resolve) => {
        pendingCut = { what, text, done: resolve };
      }),
    passed: (text) =>
      new Promise((resolve) => {
        expected = { text, done: resolve };
      }),
    async deliver() {
      if (!deliver) throw new Error('no request is held');
      await deliver();
      deliver = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
