import type { HostReport } from '../model/index.js';
import type { ComputerFigures } from './computer-figures.js';
import type { GuestStatistics } from './guest-statistics.js';

/** Figures about a host, for metrics. */
export interface HostFigures {
  readonly name: string;
  readonly computer: ComputerFigures;
  /**
   * The latest report of the driver, at most ten seconds old; undefined if the driver does not report, or if its last
   * report failed.
   */
  readonly report: HostReport | undefined;
  /**
   * Figures about the host process; undefined if the host is part of an API process, which has neither heartbeats nor a
   * lease.
   */
  readonly process: HostProcessFigures | undefined;
}

/** Figures about a separate host process. Times are in milliseconds. */
export interface HostProcessFigures {
  /** The time since the last heartbeat was stored. */
  readonly heartbeatAgeMs: number;
  /** The time until the lease on the host name expires if it is not renewed; 0 if it has expired. */
  readonly leaseMs: number;
  /** Whether the machines are stopped or paused because no heartbeat could be stored. */
  readonly fenced: boolean;
  /** How often the machines have been fenced since the process started. */
  readonly fences: number;
}

/** Figures about a host and its guests, which are read at each call. */
export interface HostStatistics {
  /** Returns figures about the guests; takes at most two seconds. */
  guests(): Promise<GuestStatistics>;
  /** Returns figures about the host; undefined if the driver of this process does not use this computer. */
  host(): Promise<HostFigures | undefined>;
}
