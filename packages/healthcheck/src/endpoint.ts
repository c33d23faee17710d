import type { Backend, Probe } from './backends/backend.js';
import { type CheckReport, type CheckState, worstState } from './check.js';
import type { EndpointSettings } from './settings.js';

/** The health of an endpoint. */
export interface HealthStatus {
  /** The worst state among all results. */
  readonly state: CheckState;
  /** Whether the state is `available` or `degraded`. Determines the HTTP status. */
  readonly available: boolean;
  /** One result per backend, in the configured order. */
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

/** A health endpoint, which runs its backends and combines their results. */
export interface Endpoint {
  readonly name: string;
  /** Runs all backends concurrently. Never rejects. Without backends, it returns synchronously. */
  evaluate(probe: Probe): HealthStatus | Promise<HealthStatus>;
  /** Makes the endpoint permanently unavailable if it is configured to fail on shutdown. */
  shutdown(): void;
  /**
   * If the endpoint is configured to fail on shutdown, makes it unavailable for the given reason. Without a reason, its
   * checks determine the state again.
   */
  setNotReadyReason(reason: string | undefined): void;
}

const STATUS_WITHOUT_BACKENDS: HealthStatus = { state: 'available', available: true, results: [] };

function unavailableStatus(name: string, reason: string, details: string): HealthStatus {
  const finding = { name, state: 'unavailable', available: false, reason, details } as const;
  return statusOf([{ ...finding, durationMs: 0, changedAt: new Date() }]);
}

/**
 * Creates an endpoint.
 *
 * @param onChange called when an evaluation results in a different state than the previous one
 */
export function createEndpoint(
  { name, failsOnShutdown }: EndpointSettings,
  backends: readonly Backend[],
  onChange: (change: HealthChange) => void,
): Endpoint {
  /** The last state, by port: results may depend on the port, and a difference between two ports is not a change. */
  const lastStates = new Map<number | undefined, CheckState>();
  let shutdownStatus: HealthStatus | undefined;
  let notReadyStatus: HealthStatus | undefined;

  /** Reports a change of the state and returns the status. */
  function recordStatus(port: number | undefined, status: HealthStatus): HealthStatus {
    const from = lastStates.get(port);
    lastStates.set(port, status.state);
    if (from !== undefined && from !== status.state) onChange({ endpoint: name, from, to: status.state, status });
    return status;
  }

  return {
    name,
    evaluate(probe) {
      if (shutdownStatus) return shutdownStatus;
      if (notReadyStatus) return recordStatus(probe.port, notReadyStatus);
      if (backends.length === 0) return STATUS_WITHOUT_BACKENDS;
      return Promise.all(backends.map((backend) => backend.run(probe))).then(
        (results) =>
          // A shutdown may have started while the checks ran.
          shutdownStatus ?? recordStatus(probe.port, notReadyStatus ?? statusOf(results)),
      );
    },
    shutdown() {
      if (!failsOnShutdown || shutdownStatus) return;
      shutdownStatus = unavailableStatus(
        'shutdown',
        'SHUTTING DOWN',
        'The service completes its requests before it stops',
      );
      const [state, ...others] = new Set(lastStates.values());
      const from: CheckState = state !== undefined && others.length === 0 ? state : 'available';
      if (from !== 'unavailable') onChange({ endpoint: name, from, to: 'unavailable', status: shutdownStatus });
    },
    setNotReadyReason(reason) {
      if (!failsOnShutdown) return;
      const reasonLine = reason?.replaceAll(/[\r\n]+/g, ' ');
      notReadyStatus =
        reasonLine === undefined
          ? undefined
          : unavailableStatus('ready', reasonLine || 'NOT READY', 'The service is marked as not ready');
    },
  };
}

function statusOf(results: readonly CheckReport[]): HealthStatus {
  const state = worstState(results);
  return { state, available: state !== 'unavailable', results };
}
