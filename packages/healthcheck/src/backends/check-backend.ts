import { type Check, type CheckReport, type CheckResult, type Finding, failureFinding, findingOf } from '../check.js';
import type { HealthcheckLog } from '../log.js';
import type { Backend } from './backend.js';

const DEFAULT_TIMEOUT_MS = 5_000;

/** If this many runs of a check have ignored their abort signal and are still in progress, no further run is started. */
const MAX_ABANDONED_RUNS = 4;

/**
 * Creates the backend that runs a check. Concurrent probes share one run.
 *
 * @param onStateChange called when a background run returns a different state than the previous run
 */
export function checkBackend(check: Check, log: HealthcheckLog, onStateChange: () => void): Backend {
  const { name, timeoutMs = DEFAULT_TIMEOUT_MS, cacheMs = 0, refreshMs } = check;
  let currentRun: Promise<CheckReport> | undefined;
  let latestReport: CheckReport | undefined;
  let freshUntil = 0;
  let abandonedRuns = 0;
  let refreshTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function sharedRun(): Promise<CheckReport> {
    if (currentRun) return currentRun;
    const startedAt = performance.now();
    currentRun = runOnce().then((finding) => {
      currentRun = undefined;
      const endedAt = performance.now();
      const changedAt = latestReport?.state === finding.state ? latestReport.changedAt : new Date();
      latestReport = { ...finding, durationMs: endedAt - startedAt, changedAt };
      freshUntil = endedAt + cacheMs;
      return latestReport;
    });
    return currentRun;
  }

  function failedFinding(failure: string, details: string): Finding {
    log.error(`healthcheck: ${failure}: ${name}: ${details}`);
    return failureFinding(name, failure, details);
  }

  async function runOnce(): Promise<Finding> {
    if (abandonedRuns >= MAX_ABANDONED_RUNS) {
      return failedFinding(
        'CHECK TIMED OUT',
        `${abandonedRuns} earlier runs ignored their abort signal and are still in progress`,
      );
    }
    const controller = new AbortController();
    let stopWaiting: () => void = () => undefined;
    let isInTime = true;
    const timeout = new Promise<undefined>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs, undefined);
      stopWaiting = () => {
        clearTimeout(timer);
        // If this promise never settled, detailed responses would list it as a pending resource.
        resolve(undefined);
      };
    });
    const checkOutcome = new Promise<CheckResult>((resolve) => resolve(check.check(controller.signal)))
      .then((result) => findingOf(name, result))
      .catch((error: unknown) => (isInTime ? failedFinding('CHECK FAILED', messageOf(error)) : undefined));
    const finding = await Promise.race([checkOutcome, timeout]);
    stopWaiting();
    if (finding) return finding;
    isInTime = false;
    abandonedRuns++;
    void checkOutcome.then(() => abandonedRuns--);
    controller.abort(new DOMException(`The check "${name}" took longer than ${timeoutMs} ms`, 'TimeoutError'));
    return failedFinding('CHECK TIMED OUT', `The check returned no result within ${timeoutMs} ms`);
  }

  async function refreshOnce(): Promise<void> {
    const previousState = latestReport?.state;
    const { state } = await sharedRun();
    if (isClosed) return;
    if (previousState !== undefined && previousState !== state) onStateChange();
    refreshTimer = setTimeout(refreshOnce, refreshMs);
    refreshTimer.unref();
  }

  if (refreshMs !== undefined) void refreshOnce();

  return {
    name,
    run() {
      const isLatestReportFresh = refreshTimer !== undefined || performance.now() < freshUntil;
      return latestReport && isLatestReportFresh ? latestReport : sharedRun();
    },
    close() {
      isClosed = true;
      clearTimeout(refreshTimer);
      refreshTimer = undefined;
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
