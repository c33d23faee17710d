import type { CheckReport } from '../check.js';

/** What a check may know about the request that asks. */
export interface Probe {
  /** The local port the request came in on; undefined for a Unix socket and for `status()`. */
  readonly port: number | undefined;
}

/** A check made ready to run within an endpoint. */
export interface Backend {
  readonly name: string;
  /** Never throws or rejects. */
  run(probe: Probe): CheckReport | Promise<CheckReport>;
  /** Ends background runs; a later `run` works still. */
  close(): void;
}
