import type { CheckReport } from '../check.js';
import type { ServerReport } from '../detailed/server-report.js';

/** What `class` says of every result. */
export const RESULT_CLASS = 'HealthcheckResult';

/**
 * The JSON page: four blanks of indentation, sorted keys, only ASCII.
 *
 * @param server given where the endpoint is detailed
 */
export function jsonBody(reports: readonly CheckReport[], server?: ServerReport): string {
  return asciiJson(server ? detailed(reports, server) : simple(reports));
}

/** The reasons are texts, so that the names of the checks stand beside them, in the same order. */
function simple(reports: readonly CheckReport[]): object {
  return { detailed: false, names: reports.map(({ name }) => name), reasons: reports.map(({ reason }) => reason) };
}

/** The keys are written in sorted order, which is the order they are sent in. */
function detailed(reports: readonly CheckReport[], server: ServerReport): object {
  return {
    detailed: true,
    gc: { counts: server.gc.counts, threshold: server.gc.threshold },
    greenthreads: server.greenthreads,
    now: server.now,
    platform: server.platform,
    python_version: server.runtimeVersion,
    reasons: reports.map(({ name, reason, details }) => ({ class: RESULT_CLASS, details, name, reason })),
    runtime_version: server.runtimeVersion,
    threads: server.threads,
  };
}

function asciiJson(value: object): string {
  return JSON.stringify(value, null, 4).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
