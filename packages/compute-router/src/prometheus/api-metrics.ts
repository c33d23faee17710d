import { operationKey, type ServedRequest } from '@apistrata/microversion/router';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { ApiObserver } from '../http/api-observer.js';
import type { IdentityLookup } from '../identity/index.js';
import { BoundedLabel } from './bounded-label.js';

const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Versions that are told apart; clients choose them, and an API may have a hundred. */
const VERSIONS = 40;

/** Kinds of project quotas that are told apart; a service has a handful. */
const KINDS = 40;

/** What was asked for too much of: a `QuotaExceeded` of `@apistrata/quota`, or anything else that says so. */
export interface RefusedQuota {
  readonly details: readonly { readonly kind: string }[];
}

/** Requests of which no operation was found: unknown paths, callers turned away before. */
const NONE = 'none';

/** The metrics of what the API serves. */
export function apiMetrics(register: Registry): Required<Pick<ApiObserver, 'request' | 'version' | 'aside'>> {
  const registers = [register];
  const requests = new Counter({
    name: 'apistrata_requests_total',
    help: 'Requests answered, by operation, version served and status',
    labelNames: ['operation', 'version', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'apistrata_request_duration_seconds',
    help: 'Time from the arrival of a request until its answer was handed over, by operation',
    labelNames: ['operation'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const versions = new Counter({
    name: 'apistrata_versions_total',
    help: 'Versions that requests were served at, and whether they asked for them (asked: yes or no)',
    labelNames: ['version', 'asked'],
    registers,
  });
  const known = new BoundedLabel(VERSIONS);
  return {
    request({ operation: served, version, status, ms }: ServedRequest) {
      const operation = served ? operationKey(served) : NONE;
      requests.inc({ operation, version: version ? known.of(version.text) : NONE, status });
      seconds.observe({ operation }, ms / 1000);
    },
    aside({ part, status, ms }) {
      requests.inc({ operation: part, version: NONE, status });
      seconds.observe({ operation: part }, ms / 1000);
    },
    version: (version, requested) => versions.inc({ version: known.of(version.text), asked: requested ? 'yes' : 'no' }),
  };
}

/** The metric of `enforceQuota({ onExceeded })`. */
export function quotaMetrics(register: Registry): (refusal: RefusedQuota) => void {
  const refusals = new Counter({
    name: 'apistrata_project_quota_refusals_total',
    help: 'Requests refused because a project has no room for them, by kind of project quota',
    labelNames: ['kind'],
    registers: [register],
  });
  const kinds = new BoundedLabel(KINDS);
  return ({ details }) => {
    for (const { kind } of details) refusals.inc({ kind: kinds.of(kind) });
  };
}

/** The metric of `identityService({ onLookup })`. */
export function identityMetrics(register: Registry): (identityLookup: IdentityLookup) => void {
  const lookups = new Counter({
    name: 'apistrata_identity_lookups_total',
    help: 'Tokens looked up, by how: known, refused (both remembered), asked (a question to the identity service), joined',
    labelNames: ['found'],
    registers: [register],
  });
  return (found) => lookups.inc({ found });
}
