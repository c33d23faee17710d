import type { CheckReport } from '../check.js';

/** The properties of a probe request that a backend uses. */
export interface Probe {
  /** The local port of the connection; undefined for a Unix socket and for `status()`. */
  readonly port: number | undefined;
}

/** Runs one check for the endpoints that refer to it. */
export interface Backend {
  readonly name: string;
  /** Runs the check or returns a cached result. Never throws or rejects. */
  run(probe: Probe): CheckReport | Promise<CheckReport>;
  /** Stops background runs of the check; `run` can still be called. */
  close(): void;
}
