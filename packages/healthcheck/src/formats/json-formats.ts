import type { CheckReport, CheckState } from '../check.js';
import { worstState } from '../check.js';
import type { JsonFormat, ResponseExtras } from '../extras.js';

/** A JSON response in a format other than the documented one. */
export interface JsonResponse {
  readonly contentType: string;
  readonly body: string;
}

const STATUS_BY_STATE: Readonly<Record<CheckState, string>> = {
  available: 'ok',
  degraded: 'degraded',
  unavailable: 'error',
};
const DRAFT_STATUS_BY_STATE: Readonly<Record<CheckState, string>> = {
  available: 'pass',
  degraded: 'warn',
  unavailable: 'fail',
};

function jsonResponse(contentType: string, value: object): JsonResponse {
  return { contentType, body: JSON.stringify(value) };
}

/** Returns `{ "status": "ok" }`, with the reasons of the checks that are not available. */
function statusJson(reports: readonly CheckReport[]): JsonResponse {
  const reasons = failingReasons(reports);
  return jsonResponse('application/json', {
    status: STATUS_BY_STATE[worstState(reports)],
    ...(reasons.length > 0 && { reasons }),
  });
}

/** Renders check results as defined by the IETF draft `draft-inadarei-api-health-check`. */
function healthJson(reports: readonly CheckReport[], { named }: ResponseExtras): JsonResponse {
  const checks: Record<string, object[]> = Object.create(null);
  for (const { name, state, reason, durationMs, changedAt } of reports) {
    const output = state === 'available' ? {} : { output: reason };
    const measurement = {
      observedValue: Number(durationMs.toFixed(1)),
      observedUnit: 'ms',
      time: changedAt.toISOString(),
    };
    (checks[name] ??= []).push({ status: DRAFT_STATUS_BY_STATE[state], ...measurement, ...output });
  }
  const service = {
    ...(named?.name && { serviceId: named.name }),
    ...(named?.version && { releaseId: named.version }),
  };
  return jsonResponse('application/health+json', {
    status: DRAFT_STATUS_BY_STATE[worstState(reports)],
    ...service,
    checks,
  });
}

/** Returns the reasons reported by all checks that are not available. */
export function failingReasons(reports: readonly CheckReport[]): readonly string[] {
  return reports.filter(({ state }) => state !== 'available').map(({ reason }) => reason);
}

/** The JSON renderers by format name, except that of the documented format, which also exists as HTML and text. */
export const JSON_FORMATS: Readonly<
  Record<Exclude<JsonFormat, 'documented'>, (reports: readonly CheckReport[], extras: ResponseExtras) => JsonResponse>
> = { status: statusJson, 'health+json': healthJson };
