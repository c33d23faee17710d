import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What becomes of the next question to a server. */
export type Cut =
  /** The server does it, and its answer never comes. */
  | 'answer'
  /** The connection ends while the question is under way; it reaches the server once `deliver` is called. */
  | 'question';

/** A place between clients and a server on this machine, that can lose what passes. */
export interface CuttingProxy {
  readonly port: number;
  /** Loses the next question that holds this text. Resolves once the client has lost its connection. */
  cut(what: Cut, text: string): Promise<void>;
  /** Lets the server have the question that was under way, and resolves once it has answered. */
  deliver(): Promise<void>;
  close(): Promise<void>;
}

export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let armed: { readonly what: Cut; readonly text: string; readonly done: () => void } | undefined;
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
    client.on('data', (question) => {
      if (!armed || !question.includes(armed.text)) return void server.write(question);
      const { what, done } = armed;
      armed = undefined;
      cutting = true;
      const lose = () => {
        client.destroy();
        done();
      };
      if (what === 'answer') {
        // It answers when it has done it.
        server.once('data', () => {
          lose();
          server.destroy();
        });
        server.write(question);
        return;
      }
      deliver = async () => {
        const answered = once(server, 'data');
        server.write(question);
        await answered;
        server.destroy();
      };
      lose();
    });
    server.on('data', (answer) => {
      if (!cutting) client.write(answer);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');

  return {
    port: (proxy.address() as AddressInfo).port,
    cut: (what, text) =>
      new Promise((resolve) => {
        armed = { what, text, done: resolve };
      }),
    async deliver() {
      if (!deliver) throw new Error('no question is under way');
      await deliver();
      deliver = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
