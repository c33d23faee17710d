import { operationKey, type ServedRequest } from '@apistrata/microversion-router';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { ApiObserver } from '../http/api-observer.js';
import type { IdentityLookup } from '../identity/index.js';
import { BoundedLabel } from './bounded-label.js';

const REQUEST_SECONDS_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The maximum number of `version` label values. Clients choose versions, and an API may have about a hundred. */
const MAX_VERSION_LABELS = 40;

/** The maximum number of quota kinds that have their own label value. A service has only a few. */
const MAX_KIND_LABELS = 40;

/** A `QuotaExceeded` error from `@apistrata/quota`, or an object with the same `details` field. */
export interface RejectedQuota {
  readonly details: readonly { readonly kind: string }[];
}

/**
 * The label value for requests that do not reach an operation: unknown paths, and requests that are rejected before
 * routing.
 */
const NO_OPERATION = 'none';

/** Creates the API request metrics and the observer that updates them. */
export function apiMetrics(register: Registry): Required<Pick<ApiObserver, 'request' | 'version' | 'unrouted'>> {
  const registers = [register];
  const requests = new Counter({
    name: 'apistrata_requests_total',
    help: 'Requests served, by operation, version and status',
    labelNames: ['operation', 'version', 'status'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'apistrata_request_duration_seconds',
    help: 'Time between the arrival of a request and the writing of its response to the socket, by operation',
    labelNames: ['operation'],
    buckets: REQUEST_SECONDS_BUCKETS,
    registers,
  });
  const versions = new Counter({
    name: 'apistrata_versions_total',
    help: 'Requests by API version, and by whether the client requested this version explicitly (requested: yes or no)',
    labelNames: ['version', 'requested'],
    registers,
  });
  const versionLabel = new BoundedLabel(MAX_VERSION_LABELS);
  return {
    request({ operation: served, version, status, ms }: ServedRequest) {
      const operation = served ? operationKey(served) : NO_OPERATION;
      requests.inc({ operation, version: version ? versionLabel.of(version.text) : NO_OPERATION, status });
      requestSeconds.observe({ operation }, ms / 1000);
    },
    unrouted({ part, status, ms }) {
      requests.inc({ operation: part, version: NO_OPERATION, status });
      requestSeconds.observe({ operation: part }, ms / 1000);
    },
    version: (version, requested) =>
      versions.inc({ version: versionLabel.of(version.text), requested: requested ? 'yes' : 'no' }),
  };
}

/**
 * Creates the metric that counts exceeded project quotas. Pass the returned function to `enforceQuota({ onExceeded })`.
 */
export function quotaMetrics(register: Registry): (rejection: RejectedQuota) => void {
  const rejectionCounter = new Counter({
    name: 'apistrata_project_quota_rejections_total',
    help: 'Requests rejected because they exceed a project quota, by quota kind',
    labelNames: ['kind'],
    registers: [register],
  });
  const kinds = new BoundedLabel(MAX_KIND_LABELS);
  return ({ details }) => {
    for (const { kind } of details) rejectionCounter.inc({ kind: kinds.of(kind) });
  };
}

/** Creates the metric that counts token lookups. Pass the returned function to `identityService({ onLookup })`. */
export function identityMetrics(register: Registry): (identityLookup: IdentityLookup) => void {
  const lookups = new Counter({
    name: 'apistrata_identity_lookups_total',
    help: 'Token lookups by result: known or rejected (cached), requested (from the identity service), joined (waited for another request)',
    labelNames: ['found'],
    registers: [register],
  });
  return (found) => lookups.inc({ found });
}
