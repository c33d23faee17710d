import type { CheckReport } from '../check.js';
import type { ServerReport } from '../detailed/server-report.js';
import type { ResponseExtras, ServiceInfo } from '../extras.js';

/** The value of `class` in every check result of the documented format. */
export const RESULT_CLASS = 'HealthcheckResult';

/** Returns the JSON document with an indentation of four spaces, sorted keys and only ASCII characters. */
export function jsonBody(reports: readonly CheckReport[], { server, named }: ResponseExtras): string {
  return asciiJson(server ? detailedBody(reports, server, named) : simpleBody(reports, named !== undefined));
}

/** Returns the body without details. Reasons are strings, so check names are a separate list in the same order. */
function simpleBody(reports: readonly CheckReport[], named: boolean): object {
  const reasons = reports.map(({ reason }) => reason);
  return { detailed: false, ...(named && { names: reports.map(({ name }) => name) }), reasons };
}

function detailedBody(reports: readonly CheckReport[], server: ServerReport, named: ServiceInfo | undefined): object {
  const documentedBody = {
    detailed: true,
    gc: { counts: server.gc.counts, threshold: server.gc.threshold },
    greenthreads: server.greenthreads,
    now: server.now,
    platform: server.platform,
    python_version: server.runtimeVersion,
    reasons: reports.map((report) => (named ? namedResult(report) : resultOf(report))),
    threads: server.threads,
  };
  if (!named) return documentedBody;
  const service = { name: named.name || undefined, version: named.version || undefined };
  return sortKeys({ ...documentedBody, runtime_version: server.runtimeVersion, service, uptime: server.uptimeSeconds });
}

function resultOf({ reason, details }: CheckReport) {
  return { class: RESULT_CLASS, details, reason };
}

function namedResult(report: CheckReport): object {
  const { name, durationMs, changedAt } = report;
  const additions = { name, duration_ms: Number(durationMs.toFixed(1)), last_change: changedAt.toISOString() };
  return sortKeys({ ...resultOf(report), ...additions });
}

function sortKeys(record: object): object {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function asciiJson(value: object): string {
  return JSON.stringify(value, null, 4).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
