import { type Check, type CheckReport, type CheckResult, type Finding, failureOf, findingOf } from '../check.js';
import type { HealthcheckLog } from '../log.js';
import type { Backend } from './backend.js';

const DEFAULT_TIMEOUT_MS = 5_000;

/** If this many runs of a check have ignored their abort signal and are still in progress, no further run is started. */
const MAX_ABANDONED = 4;

/**
 * Creates the backend that runs a check. Concurrent probes share one run.
 *
 * @param changed called when a background run returns a different state than the previous run
 */
export function checkBackend(check: Check, log: HealthcheckLog, changed: () => void): Backend {
  const { name, timeoutMs = DEFAULT_TIMEOUT_MS, cacheMs = 0, refreshMs } = check;
  let running: Promise<CheckReport> | undefined;
  let latest: CheckReport | undefined;
  let freshUntil = 0;
  let abandoned = 0;
  let refresh: NodeJS.Timeout | undefined;
  let closed = false;

  function sharedRun(): Promise<CheckReport> {
    if (running) return running;
    const startedAt = performance.now();
    running = runOnce().then((finding) => {
      running = undefined;
      const endedAt = performance.now();
      const changedAt = latest?.state === finding.state ? latest.changedAt : new Date();
      latest = { ...finding, durationMs: endedAt - startedAt, changedAt };
      freshUntil = endedAt + cacheMs;
      return latest;
    });
    return running;
  }

  function failedFinding(failure: string, details: string): Finding {
    log.error(`healthcheck: ${failure}: ${name}: ${details}`);
    return failureOf(name, failure, details);
  }

  async function runOnce(): Promise<Finding> {
    if (abandoned >= MAX_ABANDONED) {
      return failedFinding(
        'CHECK TIMED OUT',
        `${abandoned} earlier runs ignored their abort signal and are still in progress`,
      );
    }
    const controller = new AbortController();
    let stopWaiting: () => void = () => undefined;
    let inTime = true;
    const timeout = new Promise<undefined>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs, undefined);
      stopWaiting = () => {
        clearTimeout(timer);
        // If this promise never settled, detailed responses would list it as a pending resource.
        resolve(undefined);
      };
    });
    const found = new Promise<CheckResult>((resolve) => resolve(check.check(controller.signal)))
      .then((result) => findingOf(name, result))
      .catch((error: unknown) => (inTime ? failedFinding('CHECK FAILED', messageOf(error)) : undefined));
    const finding = await Promise.race([found, timeout]);
    stopWaiting();
    if (finding) return finding;
    inTime = false;
    abandoned++;
    void found.then(() => abandoned--);
    controller.abort(new DOMException(`The check "${name}" took longer than ${timeoutMs} ms`, 'TimeoutError'));
    return failedFinding('CHECK TIMED OUT', `The check returned no result within ${timeoutMs} ms`);
  }

  async function refreshOnce(): Promise<void> {
    const before = latest?.state;
    const { state } = await sharedRun();
    if (closed) return;
    if (before !== undefined && before !== state) changed();
    refresh = setTimeout(refreshOnce, refreshMs);
    refresh.unref();
  }

  if (refreshMs !== undefined) void refreshOnce();

  return {
    name,
    run() {
      const usable = refresh !== undefined || performance.now() < freshUntil;
      return latest && usable ? latest : sharedRun();
    },
    close() {
      closed = true;
      clearTimeout(refresh);
      refresh = undefined;
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
