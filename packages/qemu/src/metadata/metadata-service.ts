import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv4, type Server as Listener, type Socket } from 'node:net';
import type { GuestMetadata } from '../guest/meta-data.js';
import type { IpTool } from '../network/ip-tool.js';
import { PROGRAM_ENVIRONMENT } from '../programs/run-program.js';
import { createMetadataResponse } from './metadata-response.js';

const PORT = 80;
/** A busy computer may need many seconds to start a program. */
const START_TIMEOUT_MS = 60_000;
/** The maximum number of connections per network; further connections are rejected. */
const MAX_CONNECTIONS = 200;

/** A guest that requests metadata. */
export interface MetadataGuest {
  readonly metadata: GuestMetadata;
  readonly floating: string | undefined;
}

export interface MetadataServiceOptions {
  readonly ip: IpTool;
  /** The address on which the service listens in each namespace. */
  readonly address: string;
  /** Returns the guest with the given IP address in the given namespace. Neither alone identifies a guest. */
  readonly guest: (namespace: string, address: string) => Promise<MetadataGuest | undefined>;
  readonly log: (line: string) => void;
}

/**
 * Runs in a child process in a network namespace, and passes a listening socket to the parent process; the socket stays
 * in its namespace. The child receives this function as source text, so that this also works in a bundled package. The
 * function must therefore not reference anything else in this module.
 */
function listenInNamespace(): void {
  const [address, port] = process.argv.slice(1);
  const server = process.getBuiltinModule('node:net').createServer({ pauseOnConnect: true });
  server.listen({ host: address, port: Number(port) }, () => {
    process.send?.('listening', server, undefined, () => process.exit());
  });
}

/**
 * Serves metadata to guests. Each network has a listener in its namespace, so that a guest is identified by its address
 * and its network, never by the content of its request.
 */
export class MetadataService {
  readonly #options: MetadataServiceOptions;
  readonly #listeners = new Map<string, Listener>();

  constructor(options: MetadataServiceOptions) {
    this.#options = options;
  }

  /** Closes all listeners except those in the given namespaces. */
  async closeAllExcept(namespaces: readonly string[]): Promise<void> {
    for (const [name, listener] of this.#listeners) {
      if (namespaces.includes(name)) continue;
      listener.close();
      this.#listeners.delete(name);
    }
  }

  /** Listens in the given namespaces, and closes all other listeners. */
  async listenIn(namespaces: readonly string[]): Promise<void> {
    await this.closeAllExcept(namespaces);
    for (const name of namespaces) if (!this.#listeners.has(name)) this.#listeners.set(name, await this.#listen(name));
  }

  async close(): Promise<void> {
    await this.closeAllExcept([]);
  }

  /**
   * Listens in a namespace. A child process creates the socket, because a socket belongs to its creator's namespace.
   */
  async #listen(namespace: string): Promise<Listener> {
    const { ip, address } = this.#options;
    const [program, args] = ip.namespaceCommand(namespace, process.execPath, [
      '-e',
      `(${listenInNamespace})()`,
      address,
      `${PORT}`,
    ]);
    const child = spawn(program, [...args], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: PROGRAM_ENVIRONMENT });
    const endController = new AbortController();
    const killTimer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
    try {
      const childExit = once(child, 'exit', { signal: endController.signal }).then(() => undefined);
      const [, listener] =
        (await Promise.race([once(child, 'message', { signal: endController.signal }), childExit])) ?? [];
      if (!listener) throw new Error(`cannot listen on ${address}:${PORT} in the namespace ${namespace}`);
      return this.#serve(namespace, listener as Listener);
    } finally {
      clearTimeout(killTimer);
      endController.abort();
    }
  }

  #serve(namespace: string, listener: Listener): Listener {
    const httpServer = createServer(
      { requestTimeout: 10_000, keepAliveTimeout: 2_000, maxHeaderSize: 8_192 },
      (req, res) => {
        this.#respond(namespace, req, res).catch((error: Error) => {
          this.#options.log(`a metadata request from a guest failed: ${error.message}`);
          res.writeHead(500).end();
        });
      },
    );
    listener.maxConnections = MAX_CONNECTIONS;
    listener.on('connection', (socket: Socket) => {
      httpServer.emit('connection', socket);
      socket.resume();
    });
    // The listener must not keep the host process alive.
    listener.unref();
    return listener;
  }

  async #respond(namespace: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { allow: 'GET, HEAD' }).end();
    const address = req.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
    const guest = isIPv4(address) ? await this.#options.guest(namespace, address) : undefined;
    const path = (req.url ?? '/').split('?')[0] ?? '/';
    const response = guest && createMetadataResponse(path, guest.metadata, guest.floating);
    if (!response) return void res.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
    res
      .writeHead(200, { 'content-type': response.type, 'content-length': response.body.byteLength })
      .end(response.body);
  }
}
