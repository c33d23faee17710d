import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Version } from '../version.js';
import type { Operation } from './operation.js';

/** The parts of serving a request, in their order. */
export type Stage =
  | 'identity'
  | 'route'
  | 'version'
  | 'body'
  | 'validation'
  | 'target'
  | 'policy'
  | 'load'
  | 'run'
  | 'render';

/** What became of a request. */
export interface ServedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Undefined where none was found: an unknown path, or a caller who was turned away before that was looked at. */
  readonly operation: Operation | undefined;
  /** Undefined where it did not come to negotiating one. */
  readonly version: Version | undefined;
  readonly status: number;
  /** From its arrival at the router until the answer was handed over, in milliseconds. */
  readonly ms: number;
  /** What was thrown and answered, if anything. */
  readonly error: unknown;
}

/**
 * Looks on while a router serves: for metrics and traces. What is left out costs nothing. It is called in the middle of
 * serving, so it is quick, and it throws nothing.
 */
export interface RouterObserver {
  /** Runs a request, perhaps within something of its own: a span. It calls `serve` once and waits for it. */
  readonly around?: (req: IncomingMessage, serve: () => Promise<void>) => Promise<void>;
  /** Told of each stage that was passed: when it began (by `performance.now()`) and what it took, in milliseconds. */
  readonly stage?: (stage: Stage, begunAt: number, ms: number) => void;
  /** Told when a request has been answered, within `around`. */
  readonly request?: (served: ServedRequest) => void;
}

/** What is noted of one request on its way. */
export class Trail {
  operation: Operation | undefined;
  version: Version | undefined;
  readonly #observer: RouterObserver;
  readonly #begunAt = performance.now();
  #passedAt = this.#begunAt;

  constructor(observer: RouterObserver) {
    this.#observer = observer;
  }

  /** The stage that has just been passed. */
  pass(stage: Stage): void {
    if (!this.#observer.stage) return;
    const now = performance.now();
    this.#observer.stage(stage, this.#passedAt, now - this.#passedAt);
    this.#passedAt = now;
  }

  end(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    const { operation, version } = this;
    const ms = performance.now() - this.#begunAt;
    this.#observer.request?.({ req, res, operation, version, status: res.statusCode, ms, error });
  }
}
