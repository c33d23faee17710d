/** How a host that cannot reach the database fences its machines: it stops them, or pauses them until it can reach the database. */
export type FenceAction = 'stop' | 'pause';

/** The instructions to a guard: what it does to the machines of its computer, and when. */
export interface FenceOrder {
  readonly action: FenceAction;
  /** The time at which the guard acts, in milliseconds of `bootTime()`. */
  readonly at: number;
  /** Milliseconds after which a machine that does not respond is killed. */
  readonly withinMs: number;
}

/**
 * A process that fences the machines of a computer unless the host process renews the order in time. It is separate from the host
 * process, and therefore acts even if that process is suspended, killed or blocked.
 */
export interface FenceGuard {
  /**
   * Checks that the guard of this process runs and responds; starts it with this order otherwise. Guards of earlier processes
   * continue until `renew()`. Rejects if the guard cannot be started.
   */
  ensure(order: FenceOrder): Promise<void>;
  /**
   * Postpones the time at which the guard acts, and ends the guards of earlier processes. Called after each heartbeat. Rejects if
   * the guard has not accepted the order.
   */
  renew(order: FenceOrder): Promise<void>;
  /** Returns the ids of the servers whose machines were paused by a fence, in any process, and have not run since. */
  paused(): Promise<readonly string[]>;
  /** Ends all guards of this computer. Machines that run continue to run. */
  end(): Promise<void>;
}
