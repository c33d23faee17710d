import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Version } from '@apistrata/microversion';
import type { Operation } from './operation.js';

/** The stages in which the router serves a request, in order. */
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

/** A request that the router has served, and its outcome. */
export interface ServedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The operation; undefined if the path is unknown or the caller was rejected before routing. */
  readonly operation: Operation | undefined;
  /** The negotiated version; undefined if no version was negotiated. */
  readonly version: Version | undefined;
  readonly status: number;
  /** The time from the request's arrival at the router until the response was passed to Node.js, in milliseconds. */
  readonly ms: number;
  /** The error that was thrown and sent, if any. */
  readonly error: unknown;
}

/**
 * Functions that observe a router, for metrics and traces. Omitted functions have no cost. The functions run while a
 * request is served, so they must be fast and must not throw.
 */
export interface RouterObserver {
  /** Wraps the serving of a request, for example in a trace span. Must call `serve` once and await it. */
  readonly around?: (req: IncomingMessage, serve: () => Promise<void>) => Promise<void>;
  /** Called after each stage, with the stage's start time (`performance.now()`) and its duration in milliseconds. */
  readonly stage?: (stage: Stage, startedAt: number, ms: number) => void;
  /** Called after the response was passed to Node.js, within `around`. */
  readonly request?: (served: ServedRequest) => void;
}

/** Measures the stages of one request and passes the result to the observer. */
export class RequestTrace {
  operation: Operation | undefined;
  version: Version | undefined;
  readonly #observer: RouterObserver;
  readonly #startedAt = performance.now();
  #lastStageAt = this.#startedAt;

  constructor(observer: RouterObserver) {
    this.#observer = observer;
  }

  /** Reports the end of a stage to the observer. */
  endStage(stage: Stage): void {
    if (!this.#observer.stage) return;
    const now = performance.now();
    this.#observer.stage(stage, this.#lastStageAt, now - this.#lastStageAt);
    this.#lastStageAt = now;
  }

  /** Reports the end of the request to the observer. */
  end(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    const { operation, version } = this;
    const ms = performance.now() - this.#startedAt;
    this.#observer.request?.({ req, res, operation, version, status: res.statusCode, ms, error });
  }
}
