import { operationKey, type ServedRequest } from '@apistrata/microversion/router';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { ApiObserver } from '../http/api-observer.js';
import type { IdentityLookup } from '../identity/index.js';
import { BoundedLabel } from './bounded-label.js';

const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The maximum number of versions with their own label. Clients choose versions, and an API may have a hundred. */
const MAX_VERSION_LABELS = 40;

/** The maximum number of kinds of project quotas with their own label. A service has only a few. */
const MAX_KIND_LABELS = 40;

/** An exceeded quota: a `QuotaExceeded` from `@apistrata/quota`, or an object with the same field. */
export interface RejectedQuota {
  readonly details: readonly { readonly kind: string }[];
}

/** The label for requests without an operation: unknown paths, and callers that are rejected before routing. */
const NO_LABEL = 'none';

/** Creates the request metrics. */
export function apiMetrics(register: Registry): Required<Pick<ApiObserver, 'request' | 'version' | 'unrouted'>> {
  const registers = [register];
  const requests = new Counter({
    name: 'apistrata_requests_total',
    help: 'Requests served, by operation, version and status',
    labelNames: ['operation', 'version', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'apistrata_request_duration_seconds',
    help: 'Time from the arrival of a request until its response was handed to the socket, by operation',
    labelNames: ['operation'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const versions = new Counter({
    name: 'apistrata_versions_total',
    help: 'Versions at which requests were served, and whether the client requested them (requested: yes or no)',
    labelNames: ['version', 'requested'],
    registers,
  });
  const versionLabel = new BoundedLabel(MAX_VERSION_LABELS);
  return {
    request({ operation: served, version, status, ms }: ServedRequest) {
      const operation = served ? operationKey(served) : NO_LABEL;
      requests.inc({ operation, version: version ? versionLabel.of(version.text) : NO_LABEL, status });
      seconds.observe({ operation }, ms / 1000);
    },
    unrouted({ part, status, ms }) {
      requests.inc({ operation: part, version: NO_LABEL, status });
      seconds.observe({ operation: part }, ms / 1000);
    },
    version: (version, requested) =>
      versions.inc({ version: versionLabel.of(version.text), requested: requested ? 'yes' : 'no' }),
  };
}

/** Creates the metric for `enforceQuota({ onExceeded })`. */
export function quotaMetrics(register: Registry): (rejection: RejectedQuota) => void {
  const rejections = new Counter({
    name: 'apistrata_project_quota_rejections_total',
    help: 'Requests rejected because they exceed a project quota, by kind of quota',
    labelNames: ['kind'],
    registers: [register],
  });
  const kinds = new BoundedLabel(MAX_KIND_LABELS);
  return ({ details }) => {
    for (const { kind } of details) rejections.inc({ kind: kinds.of(kind) });
  };
}

/** Creates the metric for `identityService({ onLookup })`. */
export function identityMetrics(register: Registry): (identityLookup: IdentityLookup) => void {
  const lookups = new Counter({
    name: 'apistrata_identity_lookups_total',
    help: 'Token lookups by result: known, rejected (both cached), requested (a request to the identity service), joined',
    labelNames: ['found'],
    registers: [register],
  });
  return (found) => lookups.inc({ found });
}
