import type { CheckReport } from '../check.js';

/** The properties of a request that a check can use. */
export interface Probe {
  /** The local port the request came in on; undefined for a Unix socket and for `status()`. */
  readonly port: number | undefined;
}

/** A check prepared to run in an endpoint. */
export interface Backend {
  readonly name: string;
  /** Never throws or rejects. */
  run(probe: Probe): CheckReport | Promise<CheckReport>;
  /** Stops background runs; `run` still works. */
  close(): void;
}
