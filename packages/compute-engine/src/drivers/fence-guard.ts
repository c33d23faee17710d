/**
 * How a host that cannot reach the database fences its machines: it stops them, or pauses them until the database is
 * reachable again.
 */
export type FenceAction = 'stop' | 'pause';

/** An instruction to a guard: how and when it fences the machines on its computer. */
export interface FenceOrder {
  readonly action: FenceAction;
  /** The time at which the guard acts, in milliseconds of `bootTime()`. */
  readonly at: number;
  /** Milliseconds after which a machine that does not respond is killed. */
  readonly withinMs: number;
}

/**
 * A separate process that fences the machines on a computer unless the host process calls `renew()` in time. The guard
 * acts even if the host process is suspended, killed or blocked.
 */
export interface FenceGuard {
  /**
   * Checks that this process's guard is running and responds; otherwise, starts a guard with this order. Guards of
   * earlier processes keep running until `renew()` is called. Rejects if the guard cannot be started.
   */
  ensureRunning(order: FenceOrder): Promise<void>;
  /**
   * Postpones the time at which the guard acts, and ends the guards of earlier processes. Called after each heartbeat.
   * Rejects if the guard has not accepted the order.
   */
  renew(order: FenceOrder): Promise<void>;
  /** Returns the ids of the servers whose machines were paused by a guard or host process and have not run since. */
  listPaused(): Promise<readonly string[]>;
  /** Ends all guards on this computer. Running machines continue to run. */
  end(): Promise<void>;
}
