import type { HostReport } from '../model/index.js';
import type { ComputerFigures } from './computer-figures.js';
import type { GuestStatistics } from './guest-statistics.js';

/** Figures of a host. */
export interface HostFigures {
  readonly name: string;
  readonly computer: ComputerFigures;
  /**
   * The latest report of the driver, at most ten seconds old; undefined if the driver has no report, or its report
   * failed.
   */
  readonly report: HostReport | undefined;
  /** Figures of the host process; undefined for the host of a process that serves the API, which has neither heartbeats nor a lease. */
  readonly process: HostProcessFigures | undefined;
}

/** Figures of a separate host process. Times are milliseconds. */
export interface HostProcessFigures {
  /** The time since the last heartbeat was stored. */
  readonly heartbeatAgeMs: number;
  /** The time until the lease on the name expires unless it is renewed; 0 if it has expired. */
  readonly leaseMs: number;
  /** Whether the machines are stopped or paused because no heartbeat could be stored. */
  readonly fenced: boolean;
  /** The number of fences so far. */
  readonly fences: number;
}

/** Figures of a host and its guests, read at each call. */
export interface HostStatistics {
  /** Returns the figures of the guests; takes at most two seconds. */
  guests(): Promise<GuestStatistics>;
  /** Returns the figures of the host; undefined if the driver of this process does not use this computer. */
  host(): Promise<HostFigures | undefined>;
}
