import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a connection that was ended is still read, so that its last answer is not lost to what arrives meanwhile. */
const LINGER_MS = 1_000;

/** What the connections of one server have in common. */
export interface Guard {
  readonly serve: RequestListener;
  readonly maxPipelined: number;
  /** The server takes leave: answers say so, and connections end when nothing is owed on them. */
  draining: boolean;
  /** Nothing further is read. */
  closing: boolean;
}

/**
 * One connection, whose requests are handled one after the other: answers have to leave in that order anyway, and a
 * client that does not read its first one causes no second.
 */
export class Connection {
  readonly socket: Socket;
  readonly #guard: Guard;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  #current: ServerResponse | undefined;
  /** The client sends requests before it has its answers: more of them may be under way than have arrived. */
  #pipelines = false;
  #ended = false;
  /** For how many looks in a row an answer has been waiting to be read. */
  looksUnread = 0;
  /** When it last had something to do, since draining began. */
  quietSince = 0;

  constructor(socket: Socket, guard: Guard) {
    this.socket = socket;
    this.#guard = guard;
    // Node reads on whenever a request is complete or its body is asked for.
    socket.on('resume', () => {
      if (this.#mustNotRead()) socket.pause();
    });
    if (guard.draining) this.drain();
  }

  /** Something is being answered, or waits for that. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  /** Bytes of answers that the client has not taken yet. */
  get unreadBytes(): number {
    return this.socket.writableLength;
  }

  /** Takes a request as Node hands it over. */
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
    res.on('close', this.#answered);
    if (this.#guard.draining) {
      this.#sayGoodbye(res);
      // Those that came in the same piece are seen before this one is told to be the last.
      setImmediate(this.#guard.serve, req, res);
    } else this.#guard.serve(req, res);
  }

  readonly #answered = (): void => {
    this.#current = undefined;
    this.looksUnread = 0;
    if (this.#guard.draining) this.quietSince = performance.now();
    const next = this.#waiting.shift();
    if (next) this.#begin(...next);
    if (!this.#mustNotRead()) this.socket.resume();
    else if (this.#guard.closing && !this.busy) this.end();
  };

  /** A request whose body is still to come has to be read to its end, whatever else is the matter. */
  #mustNotRead(): boolean {
    if (this.#ended || (this.#current && !this.#current.req.complete)) return false;
    return this.#waiting.length > 0 || (this.#guard.closing && this.#pipelines);
  }

  /** From now on this connection ends with an answer that nothing follows. */
  drain(): void {
    this.quietSince = performance.now();
    this.socket.destroySoon = () => this.end();
    if (this.#current && !this.#current.headersSent) this.#sayGoodbye(this.#current);
  }

  /** Stops reading further requests; what has been read is answered. */
  close(): void {
    if (this.#mustNotRead()) this.socket.pause();
  }

  /** Sends what is left and the end; the other side's data is read and dropped until it ends too. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  /** `Connection: close`, if the answer turns out to be the last one when its head is written. */
  #sayGoodbye(res: ServerResponse): void {
    const writeHead = res.writeHead as (...args: unknown[]) => ServerResponse;
    res.writeHead = (...args: unknown[]) => {
      const last = this.#waiting.length === 0 && (!this.#pipelines || this.#guard.closing);
      if (last) res.shouldKeepAlive = false;
      return writeHead.apply(res, args);
    };
  }
}
