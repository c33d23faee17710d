import { readFileSync } from 'node:fs';

/** An operation in `reference/operations.json`. */
export interface ListedOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly action?: string;
  /** `service root` for paths outside the API with microversions. */
  readonly base?: string;
  readonly since: string;
  readonly until: string | null;
  readonly removed: boolean;
  readonly success: readonly { readonly since: string; readonly status: number }[];
  readonly errors: readonly number[] | readonly { readonly since: string; readonly codes: readonly number[] }[];
  readonly policy: readonly {
    readonly rule: string;
    readonly default: string;
    readonly optional?: boolean;
    readonly when?: string;
  }[];
  readonly request: string | readonly { readonly fields: readonly { readonly name: string }[] }[];
  readonly bodyExtraKeys?: unknown;
  readonly query: readonly {
    readonly since: string;
    readonly until: string | null;
    readonly additional?: boolean;
    readonly params?: Readonly<Record<string, string>>;
  }[];
}

/** A field in `reference/resources.json`. */
export interface ListedField {
  /** Path below the envelope. `[]` stands for an array item, and `*` for any key. */
  readonly name: string;
  readonly type: string;
  readonly since: string;
  readonly until: string | null;
  readonly always: boolean;
  readonly adminOnly?: boolean;
  readonly notes?: string;
}

/** A representation in `reference/resources.json`. */
export interface ListedView {
  /** The resource and the form: `server list_detail`. */
  readonly name: string;
  readonly operations: readonly string[];
  readonly envelope: string;
  readonly fields: readonly ListedField[];
  /** Fields that the body of a list contains in addition to the representations. */
  readonly collection?: readonly Omit<ListedField, 'always'>[];
}

const file = new URL('../../../../reference/operations.json', import.meta.url);
const text = readFileSync(file, 'utf8');
const { operations } = JSON.parse(text) as { readonly operations: readonly ListedOperation[] };

const viewFile = new URL('../../../../reference/resources.json', import.meta.url);
const { resources } = JSON.parse(readFileSync(viewFile, 'utf8')) as {
  readonly resources: Readonly<Record<string, Readonly<Record<string, Omit<ListedView, 'name'>>>>>;
};

/** Every representation in the reference. */
export const listedViews: readonly ListedView[] = Object.entries(resources).flatMap(([resource, forms]) =>
  Object.entries(forms).map(([form, view]) => ({ ...view, name: `${resource} ${form}` })),
);

/** The key of an operation in tables and messages: `POST /servers/{id}/action reboot`. */
export function keyOf({ method, path, action, base }: Pick<ListedOperation, 'method' | 'path' | 'action' | 'base'>) {
  return `${method} ${base ? `(${base}) ` : ''}${path}${action ? ` ${action}` : ''}`;
}

/**
 * Read operations that the original services have removed, but that this API serves because its documents describe
 * them. The values are their last versions and error statuses.
 */
const REINTRODUCED: Readonly<Record<string, { readonly until: string; readonly errors: readonly number[] }>> = {
  'GET /os-fixed-ips/{id}': { until: '2.35', errors: [400, 404] },
  'GET /os-floating-ip-dns': { until: '2.35', errors: [] },
  'GET /os-floating-ip-dns/{domain_id}/entries/{id}': { until: '2.35', errors: [404] },
  'GET /os-floating-ips-bulk': { until: '2.35', errors: [404] },
  'GET /os-floating-ips-bulk/{id}': { until: '2.35', errors: [404] },
  'GET /servers/{server_id}/os-virtual-interfaces': { until: '2.43', errors: [404] },
};

/** If an operation is listed as the same as another one, adds the query and the policy rules of the other one. */
function withAlias(listed: ListedOperation): ListedOperation {
  if (typeof listed.request !== 'string') return listed;
  const sameOperation = operations.find((other) => `same as ${keyOf(other)}` === listed.request)!;
  return {
    ...listed,
    query: sameOperation.query,
    policy: sameOperation.policy,
    bodyExtraKeys: sameOperation.bodyExtraKeys,
  };
}

function servedOperation(listed: ListedOperation): ListedOperation {
  const reintroduced = REINTRODUCED[keyOf(listed)];
  if (!reintroduced) return listed;
  return { ...listed, ...reintroduced, removed: false, success: [{ since: '2.1', status: 200 }] };
}

/** All 268 operations with their windows, as this API serves them. */
export const listedOperations: readonly ListedOperation[] = operations.map(withAlias).map(servedOperation);

const minor = (version: string) => Number(version.split('.')[1]);

/** The highest version that introduces anything, according to the reference. */
export const LATEST = `2.${Math.max(...[...text.matchAll(/"since": "2\.(\d+)"/g)].map(([, since]) => Number(since)))}`;

/** Returns whether a version is within an operation's window, regardless of `removed`. */
export function existsAt({ since, until }: ListedOperation, version: string): boolean {
  return minor(version) >= minor(since) && (until === null || minor(version) <= minor(until));
}

/**
 * Returns, in ascending order, the versions on both sides of each window bound and of each change to the status or the
 * query.
 */
export function edgesOf({ since, until, success, query }: ListedOperation): readonly string[] {
  const starts = [since, ...success.map((entry) => entry.since), ...query.map((entry) => entry.since)].map(minor);
  const edges = new Set([1, ...starts, ...starts.map((start) => start - 1), minor(LATEST)]);
  if (until !== null) edges.add(minor(until)).add(minor(until) + 1);
  return [...edges]
    .filter((edge) => edge >= 1 && edge <= minor(LATEST))
    .sort((a, b) => a - b)
    .map((edge) => `2.${edge}`);
}

/** Returns the success statuses at a version. */
export function successAt({ success }: ListedOperation, version: string): readonly number[] {
  const started = success.filter(({ since }) => minor(since) <= minor(version));
  const last = Math.max(...started.map(({ since }) => minor(since)));
  return started.filter(({ since }) => minor(since) === last).map(({ status }) => status);
}

/** Returns the statuses of expected errors at a version. */
export function errorsAt({ errors }: ListedOperation, version: string): readonly number[] {
  const started = errors.map((entry) => (typeof entry === 'number' ? { since: '2.1', codes: [entry] } : entry));
  const windowed = errors.some((entry) => typeof entry !== 'number');
  if (!windowed) return started.flatMap(({ codes }) => codes);
  return started.filter(({ since }) => minor(since) <= minor(version)).at(-1)?.codes ?? [];
}

/** Returns how unknown query parameters are handled at a version; undefined if the query is not read. */
export function unknownParametersAt({ query }: ListedOperation, version: string): 'ignored' | 'rejected' | undefined {
  const holds = query.find(
    ({ since, until, additional }) =>
      additional !== undefined && minor(since) <= minor(version) && (until === null || minor(until) >= minor(version)),
  );
  return holds && (holds.additional ? 'ignored' : 'rejected');
}
