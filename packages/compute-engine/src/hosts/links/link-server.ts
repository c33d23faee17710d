import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import type { LinkResponse } from '../../drivers/host-links.js';
import { joinStreams } from '../../drivers/join-streams.js';
import { failedResult, type MachineCallResult } from '../machine-call.js';
import { type HostLinkKeys, type LinkPeer, linkTlsOptions } from './link-security.js';
import { BYTES_CONTENT_TYPE, CALL_HEADER, readJson, UPGRADE_PROTOCOL } from './message.js';

/** A request over an accepted link. */
export interface ReceivedLinkRequest {
  readonly request: any;
  readonly peer: LinkPeer;
  /** Aborted when the requester disconnects. */
  readonly signal: AbortSignal;
  /** Reports to the requester that the request was accepted and that the response will take longer. */
  readonly onProcessing: () => void;
}

/** Dependencies of a `LinkServer`. */
export interface LinkServerOptions {
  readonly keys: Pick<HostLinkKeys, 'accept'>;
  /** Handles a request and returns the response. */
  readonly respond: (received: ReceivedLinkRequest) => Promise<LinkResponse>;
}

/** Time within which a requester must complete the handshake and send its request. */
const REQUEST_TIMEOUT_MS = 10_000;
const CONNECTION_CHECK_INTERVAL_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;
/** Maximum number of open links. Each disk that is being moved and each open console uses one. */
const MAX_LINKS = 4_096;

/** Accepts links from other processes of the cloud: HTTP over TLS with pre-shared keys. */
export class LinkServer {
  readonly #options: LinkServerOptions;
  readonly #server: Server;
  readonly #links = new Set<TLSSocket>();
  /** The processes that open links, by socket. They are authenticated as soon as the handshake is complete. */
  readonly #peers = new WeakMap<object, LinkPeer>();

  constructor(options: LinkServerOptions) {
    this.#options = options;
    this.#server = createServer(
      {
        ...linkTlsOptions,
        pskCallback: (socket, identity) => {
          const acceptedLink = options.keys.accept(identity);
          if (acceptedLink) this.#peers.set(socket, acceptedLink.peer);
          return acceptedLink?.psk ?? null;
        },
        handshakeTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: REQUEST_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CONNECTION_CHECK_INTERVAL_MS,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      },
      (message, response) => void this.#respond(message, response),
    );
    this.#server.maxConnections = MAX_LINKS;
    this.#server.on('upgrade', (message, socket, firstBytes) => void this.#connect(message, socket, firstBytes));
    this.#server.on('secureConnection', (socket) => {
      this.#links.add(socket);
      socket.on('error', () => {}).once('close', () => this.#links.delete(socket));
    });
    // Processes without the key fail in the handshake, which is not an error of this process.
    this.#server.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /**
   * Starts listening and returns the port.
   *
   * @param port the port; 0: any free port
   */
  async open(address: string, port: number): Promise<number> {
    this.#server.listen(port, address);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Closes all links, and stops listening. */
  async close(): Promise<void> {
    const serverClosed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#links) socket.destroy();
    await serverClosed;
  }

  async #handle({ socket }: IncomingMessage, request: unknown, onProcessing: () => void): Promise<LinkResponse> {
    const peer = this.#peers.get(socket);
    if (!peer) throw new Error('the process that opened the link has not been authenticated');
    const disconnectController = new AbortController();
    socket.once('close', () => disconnectController.abort(new Error('the requester has disconnected')));
    return this.#options.respond({ request, peer, signal: disconnectController.signal, onProcessing });
  }

  async #respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { value = null, stream } = await this.#handle(message, await readJson(message), () =>
        response.writeProcessing(),
      );
      if (!stream) return sendResult(response, 200, { value });
      response.writeHead(200, { 'content-type': BYTES_CONTENT_TYPE });
      await pipeline(stream, response);
    } catch (error) {
      // The requester detects an incomplete stream, because its end is missing.
      if (response.headersSent) response.destroy();
      else sendResult(response, 500, failedResult(error));
    }
  }

  /** Handles a request for a connection in both directions. */
  async #connect(message: IncomingMessage, socket: Duplex, firstBytes: Buffer): Promise<void> {
    if (firstBytes.length > 0) socket.unshift(firstBytes);
    try {
      const call: unknown = JSON.parse(decodeURIComponent(String(message.headers[CALL_HEADER])));
      const { stream } = await this.#handle(message, call, () => {});
      if (!(stream instanceof Duplex)) throw new Error('the response to this request is not a connection');
      if (socket.destroyed) {
        stream.destroy();
        return;
      }
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${UPGRADE_PROTOCOL}\r\n\r\n`);
      joinStreams(stream, socket);
    } catch (error) {
      const serializedError = JSON.stringify(failedResult(error));
      socket.end(
        `HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(serializedError)}\r\n\r\n${serializedError}`,
      );
    }
  }
}

function sendResult(response: ServerResponse, status: number, result: MachineCallResult): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(result));
}
