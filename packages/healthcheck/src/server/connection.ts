import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long an ended connection is still read. Closing it with unread data would discard its last response. */
const LINGER_MS = 1_000;

/** The shared state of the connections of one server. */
export interface Guard {
  readonly serve: RequestListener;
  readonly maxPipelined: number;
  /** The server drains: responses have `Connection: close`, and connections end after their last response. */
  draining: boolean;
  /** No more requests are read. */
  closing: boolean;
}

/**
 * A connection whose requests are handled sequentially: responses must be sent in that order anyway, and a client that
 * does not read its first one cannot cause a second.
 */
export class Connection {
  readonly socket: Socket;
  readonly #guard: Guard;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  #current: ServerResponse | undefined;
  /** The client sends requests before it has received responses: more of them may be in transit. */
  #pipelines = false;
  #ended = false;
  /** The number of consecutive checks in which a response was waiting to be read. */
  isUnread = 0;
  /** When it last had a request, since draining started. */
  quietSince = 0;

  constructor(socket: Socket, guard: Guard) {
    this.socket = socket;
    this.#guard = guard;
    // Node resumes reading when a request is complete or its body is read.
    socket.on('resume', () => {
      if (this.#pausesReading()) socket.pause();
    });
    if (guard.draining) this.drain();
  }

  /** True while a request is in progress or queued. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  /** Bytes of responses that the client has not read yet. */
  get unreadBytes(): number {
    return this.socket.writableLength;
  }

  /** Queues a request that Node has parsed. */
  arrive(req: IncomingMessage, res: ServerResponse): void {
    if (this.#ended) return;
    if (this.#current === undefined) this.#begin(req, res);
    else this.#hold(req, res);
  }

  #hold(req: IncomingMessage, res: ServerResponse): void {
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
    res.on('close', this.#responded);
    if (this.#guard.draining) {
      this.#setConnectionClose(res);
      // Requests of the same chunk are parsed before this one is marked as the last.
      setImmediate(this.#guard.serve, req, res);
    } else this.#guard.serve(req, res);
  }

  readonly #responded = (): void => {
    this.#current = undefined;
    this.isUnread = 0;
    if (this.#guard.draining) this.quietSince = performance.now();
    const next = this.#waiting.shift();
    if (next) this.#begin(...next);
    if (!this.#pausesReading()) this.socket.resume();
    else if (this.#guard.closing && !this.busy) this.end();
  };

  /** Returns false for a request with an incomplete body, which must be read to its end in any case. */
  #pausesReading(): boolean {
    if (this.#ended || (this.#current && !this.#current.req.complete)) return false;
    return this.#waiting.length > 0 || (this.#guard.closing && this.#pipelines);
  }

  /** Ends this connection after its last response. */
  drain(): void {
    this.quietSince = performance.now();
    this.socket.destroySoon = () => this.end();
    if (this.#current && !this.#current.headersSent) this.#setConnectionClose(this.#current);
  }

  /** Stops reading requests; requests that have been read are completed. */
  close(): void {
    if (this.#pausesReading()) this.socket.pause();
  }

  /** Sends the remaining data and the end; incoming data is discarded until the client also ends the connection. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  /** Adds `Connection: close` if the response is the last one when its head is written. */
  #setConnectionClose(res: ServerResponse): void {
    const writeHead = res.writeHead as (...args: unknown[]) => ServerResponse;
    res.writeHead = (...args: unknown[]) => {
      const last = this.#waiting.length === 0 && (!this.#pipelines || this.#guard.closing);
      if (last) res.shouldKeepAlive = false;
      return writeHead.apply(res, args);
    };
  }
}
