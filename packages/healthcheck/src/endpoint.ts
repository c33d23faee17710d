import type { Backend, Probe } from './backends/backend.js';
import { type CheckReport, type CheckState, worstOf } from './check.js';
import type { EndpointSettings } from './settings.js';

/** The health of an endpoint, as its responses show it. */
export interface HealthStatus {
  /** The worst of the results. */
  readonly state: CheckState;
  /** False only for `unavailable`; this decides the HTTP status. */
  readonly available: boolean;
  /** One per backend, in configured order. */
  readonly results: readonly CheckReport[];
}

/** A change of an endpoint's state since its previous evaluation. */
export interface HealthChange {
  /** `healthcheck` for the main endpoint, otherwise the name of the group. */
  readonly endpoint: string;
  readonly from: CheckState;
  readonly to: CheckState;
  readonly status: HealthStatus;
}

/** One endpoint: its checks, run together. */
export interface Endpoint {
  readonly name: string;
  /** Runs every backend concurrently. Never rejects; without backends it returns synchronously. */
  evaluate(probe: Probe): HealthStatus | Promise<HealthStatus>;
  /** Makes the endpoint permanently unavailable, if it fails on shutdown. */
  shutdown(): void;
  /**
   * Makes the endpoint unavailable for this reason, if it fails on shutdown; without a reason, its checks decide again.
   */
  hold(reason?: string): void;
}

const NOTHING_TO_CHECK: HealthStatus = { state: 'available', available: true, results: [] };

function unavailable(name: string, reason: string, details: string): HealthStatus {
  const finding = { name, state: 'unavailable', available: false, reason, details } as const;
  return statusOf([{ ...finding, durationMs: 0, changedAt: new Date() }]);
}

export function endpoint(
  { name, failsOnShutdown }: EndpointSettings,
  backends: readonly Backend[],
  changed: (change: HealthChange) => void,
): Endpoint {
  /** By port, because the results may differ by port; a difference between ports is not a change. */
  const lastStates = new Map<number | undefined, CheckState>();
  let down: HealthStatus | undefined;
  let notReady: HealthStatus | undefined;

  function seen(port: number | undefined, status: HealthStatus): HealthStatus {
    const from = lastStates.get(port);
    lastStates.set(port, status.state);
    if (from !== undefined && from !== status.state) changed({ endpoint: name, from, to: status.state, status });
    return status;
  }

  return {
    name,
    evaluate(probe) {
      if (down) return down;
      if (notReady) return seen(probe.port, notReady);
      if (backends.length === 0) return NOTHING_TO_CHECK;
      return Promise.all(backends.map((backend) => backend.run(probe))).then(
        (results) =>
          // A shutdown may have started during the checks.
          down ?? seen(probe.port, notReady ?? statusOf(results)),
      );
    },
    shutdown() {
      if (!failsOnShutdown || down) return;
      down = unavailable('shutdown', 'SHUTTING DOWN', 'The service completes its requests and accepts no new ones');
      const [state, ...others] = new Set(lastStates.values());
      const from: CheckState = state !== undefined && others.length === 0 ? state : 'available';
      if (from !== 'unavailable') changed({ endpoint: name, from, to: 'unavailable', status: down });
    },
    hold(reason) {
      if (!failsOnShutdown) return;
      const line = reason?.replaceAll(/[\r\n]+/g, ' ');
      notReady =
        line === undefined
          ? undefined
          : unavailable('ready', line || 'NOT READY', 'The service is marked as not ready');
    },
  };
}

function statusOf(results: readonly CheckReport[]): HealthStatus {
  const state = worstOf(results);
  return { state, available: state !== 'unavailable', results };
}
