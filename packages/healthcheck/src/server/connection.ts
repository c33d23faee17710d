import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How long data is still read after a connection has ended. Closing the socket with unread data would discard the last
 * response.
 */
const LINGER_MS = 1_000;

/** The state that all connections to one server share. */
export interface ConnectionGuard {
  readonly serve: RequestListener;
  readonly maxPipelined: number;
  /** Whether the server is draining: responses have `Connection: close`, and connections end after their last response. */
  draining: boolean;
  /** Whether the server no longer reads requests. */
  stopsReading: boolean;
}

/**
 * A connection whose pipelined requests are handled one after the other. HTTP requires responses in the order of the
 * requests anyway, and a client that does not read its first response cannot make the server produce a second one.
 */
export class Connection {
  readonly socket: Socket;
  readonly #guard: ConnectionGuard;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  #current: ServerResponse | undefined;
  /** Whether the client pipelines: it has sent a request before the previous response arrived, so more may be in transit. */
  #pipelines = false;
  #ended = false;
  /** The number of consecutive samples in which a response was still unread. */
  unreadSamples = 0;
  /** The time at which draining started or, if a response has ended since then, at which the last response ended. */
  quietSince = 0;

  constructor(socket: Socket, guard: ConnectionGuard) {
    this.socket = socket;
    this.#guard = guard;
    // Node resumes reading when a request is complete or its body is read.
    socket.on('resume', () => {
      if (this.#pausesReading()) socket.pause();
    });
    if (guard.draining) this.drain();
  }

  /** Whether a request is in progress or queued. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  /** The number of response bytes that the client has not read yet. */
  get unreadBytes(): number {
    return this.socket.writableLength;
  }

  /** Handles a request that Node has parsed, or queues it if another one is in progress. */
  receiveRequest(req: IncomingMessage, res: ServerResponse): void {
    if (this.#ended) return;
    if (this.#current === undefined) this.#begin(req, res);
    else this.#enqueue(req, res);
  }

  #enqueue(req: IncomingMessage, res: ServerResponse): void {
    this.#pipelines = true;
    if (this.#waiting.length >= this.#guard.maxPipelined) {
      this.#waiting.length = 0;
      this.#ended = true;
      this.socket.destroy();
      return;
    }
    this.#waiting.push([req, res]);
    this.socket.pause();
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    this.#current = res;
    res.on('close', this.#finishResponse);
    if (this.#guard.draining) {
      this.#setConnectionClose(res);
      // Deferred, so that Node parses all requests in the same chunk before this code decides which response is the last.
      setImmediate(this.#guard.serve, req, res);
    } else this.#guard.serve(req, res);
  }

  readonly #finishResponse = (): void => {
    this.#current = undefined;
    this.unreadSamples = 0;
    if (this.#guard.draining) this.quietSince = performance.now();
    const next = this.#waiting.shift();
    if (next) this.#begin(...next);
    if (!this.#pausesReading()) this.socket.resume();
    else if (this.#guard.stopsReading && !this.busy) this.end();
  };

  /** Returns whether reading must pause. The body of a request in progress is always read to its end. */
  #pausesReading(): boolean {
    if (this.#ended || (this.#current && !this.#current.req.complete)) return false;
    return this.#waiting.length > 0 || (this.#guard.stopsReading && this.#pipelines);
  }

  /** Ends this connection after its last response. */
  drain(): void {
    this.quietSince = performance.now();
    this.socket.destroySoon = () => this.end();
    if (this.#current && !this.#current.headersSent) this.#setConnectionClose(this.#current);
  }

  /** Stops reading requests from a client that pipelines; requests that have been read are completed. */
  stopReading(): void {
    if (this.#pausesReading()) this.socket.pause();
  }

  /**
   * Sends the remaining data and ends the connection. Incoming data is discarded until the client ends the connection,
   * too.
   */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  /** Adds `Connection: close` when the response headers are written, if no other request is waiting by then. */
  #setConnectionClose(res: ServerResponse): void {
    const writeHead = res.writeHead as (...args: unknown[]) => ServerResponse;
    res.writeHead = (...args: unknown[]) => {
      const isLastResponse = this.#waiting.length === 0 && (!this.#pipelines || this.#guard.stopsReading);
      if (isLastResponse) res.shouldKeepAlive = false;
      return writeHead.apply(res, args);
    };
  }
}
