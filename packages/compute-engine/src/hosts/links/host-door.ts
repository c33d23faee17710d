import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Duplex, type Readable } from 'node:stream';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { LinkAnswer } from '../../drivers/host-links.js';
import { joinStreams } from '../../drivers/join-streams.js';
import type { Key } from '../../secrets/sealer.js';
import { failedWith } from '../host-question.js';
import { linkLine, readLinkLine } from './link-line.js';
import { linkSecurity } from './link-security.js';

export interface HostDoorOptions {
  readonly keys: readonly Key[];
  /** Answers what somebody asks. The signal ends when he has gone. */
  readonly answer: (question: any, signal: AbortSignal) => Promise<LinkAnswer>;
}

/** How long somebody may take until he has asked. */
const ASK_MS = 10_000;
const ALIVE_MS = 10_000;
/** Links at once; each disk that moves has one, and each console that somebody looks at. */
const MAX_LINKS = 4_096;

/** Where a host is reached by the other processes of its cloud. */
export class HostDoor {
  readonly #options: HostDoorOptions;
  readonly #server: Server;
  readonly #links = new Set<TLSSocket>();

  constructor(options: HostDoorOptions) {
    this.#options = options;
    this.#server = createServer(
      {
        ...linkSecurity,
        pskCallback: (_socket, id) => options.keys.find((key) => key.id === id)?.bytes ?? null,
        handshakeTimeout: ASK_MS,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: ALIVE_MS,
      },
      (socket) => void this.#serve(socket),
    );
    this.#server.maxConnections = MAX_LINKS;
    // Strangers fail at the handshake, and that is all there is to say.
    this.#server.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /** Listens; gives the port. @param port 0: any that is free */
  async open(address: string, port: number): Promise<number> {
    this.#server.listen(port, address);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#links) socket.destroy();
    await closed;
  }

  async #serve(socket: TLSSocket): Promise<void> {
    const gone = new AbortController();
    this.#links.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#links.delete(socket);
      gone.abort(new Error('whoever has asked has gone'));
    });
    try {
      const question = await readLinkLine(socket, AbortSignal.any([gone.signal, AbortSignal.timeout(ASK_MS)]));
      const { value = null, stream } = await this.#options.answer(question, gone.signal);
      if (socket.destroyed) {
        stream?.destroy();
        return;
      }
      socket.write(linkLine({ value }));
      if (stream) deliver(stream, socket);
      else socket.end();
    } catch (error) {
      socket.end(linkLine(failedWith(error)));
    }
  }
}

function deliver(stream: Duplex | Readable, socket: TLSSocket): void {
  if (stream instanceof Duplex) joinStreams(stream, socket);
  else {
    stream.once('error', () => socket.destroy());
    socket.once('close', () => stream.destroy());
    stream.pipe(socket);
  }
}
