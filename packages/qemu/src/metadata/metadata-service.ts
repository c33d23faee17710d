import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv4, type Server as Listener, type Socket } from 'node:net';
import type { GuestStory } from '../guest/meta-data.js';
import type { IpTool } from '../network/ip-tool.js';
import { PROGRAM_ENVIRONMENT } from '../programs/run-program.js';
import { metadataAnswer } from './metadata-answer.js';

const PORT = 80;
const START_MS = 20_000;
/** Connections of one network at once; more are refused. */
const MAX_CONNECTIONS = 200;

/** The guest of an address in a network. */
export interface MetadataGuest {
  readonly story: GuestStory;
  readonly floating: string | undefined;
}

export interface MetadataServiceOptions {
  readonly ip: IpTool;
  /** Where it is reached in each namespace. */
  readonly address: string;
  /** Who has that address there; nobody but this knows who asks. */
  readonly guest: (namespace: string, address: string) => Promise<MetadataGuest | undefined>;
  readonly log: (line: string) => void;
}

/**
 * What a process does that is started in a network namespace: what it listens on stays there when it is handed over. Given to
 * it as text, so it needs no file of its own, wherever this package is bundled; it knows nothing of what stands around it here.
 */
function listenThere(): void {
  const [address, port] = process.argv.slice(1);
  const server = process.getBuiltinModule('node:net').createServer({ pauseOnConnect: true });
  server.listen({ host: address, port: Number(port) }, () => {
    process.send?.('listening', server, undefined, () => process.exit());
  });
}

/**
 * Tells guests who they are. One listener for each network, in its namespace: a guest is known by the address that it
 * comes from and the network it comes by, and by nothing that it says of itself.
 */
export class MetadataService {
  readonly #options: MetadataServiceOptions;
  readonly #listeners = new Map<string, Listener>();

  constructor(options: MetadataServiceOptions) {
    this.#options = options;
  }

  /** Ends where it is not wanted any more. */
  async keepIn(namespaces: readonly string[]): Promise<void> {
    for (const [name, listener] of this.#listeners) {
      if (namespaces.includes(name)) continue;
      listener.close();
      this.#listeners.delete(name);
    }
  }

  /** Listens in just these namespaces. */
  async listenIn(namespaces: readonly string[]): Promise<void> {
    await this.keepIn(namespaces);
    for (const name of namespaces) if (!this.#listeners.has(name)) this.#listeners.set(name, await this.#listen(name));
  }

  async leave(): Promise<void> {
    await this.keepIn([]);
  }

  /** A socket belongs to the namespace that it was made in, whoever has it. */
  async #listen(namespace: string): Promise<Listener> {
    const { ip, address } = this.#options;
    const [program, args] = ip.within(namespace, process.execPath, ['-e', `(${listenThere})()`, address, `${PORT}`]);
    const child = spawn(program, [...args], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: PROGRAM_ENVIRONMENT });
    const ending = new AbortController();
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
    try {
      const ended = once(child, 'exit', { signal: ending.signal }).then(() => undefined);
      const [, listener] = (await Promise.race([once(child, 'message', { signal: ending.signal }), ended])) ?? [];
      if (!listener) throw new Error(`nobody could listen on ${address}:${PORT} in the namespace ${namespace}`);
      return this.#serve(namespace, listener as Listener);
    } finally {
      clearTimeout(late);
      ending.abort();
    }
  }

  #serve(namespace: string, listener: Listener): Listener {
    const http = createServer({ requestTimeout: 10_000, keepAliveTimeout: 2_000, maxHeaderSize: 8_192 }, (req, res) => {
      this.#answer(namespace, req, res).catch((error: Error) => {
        this.#options.log(`a guest could not be told who it is: ${error.message}`);
        res.writeHead(500).end();
      });
    });
    listener.maxConnections = MAX_CONNECTIONS;
    listener.on('connection', (socket: Socket) => {
      http.emit('connection', socket);
      socket.resume();
    });
    // It is not what keeps this process alive.
    listener.unref();
    return listener;
  }

  async #answer(namespace: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { allow: 'GET, HEAD' }).end();
    const address = req.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
    const guest = isIPv4(address) ? await this.#options.guest(namespace, address) : undefined;
    const path = (req.url ?? '/').split('?')[0] ?? '/';
    const answer = guest && metadataAnswer(path, guest.story, guest.floating);
    if (!answer) return void res.writeHead(404, { 'content-type': 'text/plain' }).end('there is nothing\n');
    res.writeHead(200, { 'content-type': answer.type, 'content-length': answer.body.byteLength }).end(answer.body);
  }
}
