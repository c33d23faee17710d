import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkOptions } from './check-options.js';
import type { QuotaExceeded } from './errors.js';
import { InvalidQuota } from './errors.js';
import type { Amounts } from './limits.js';
import type { ProjectQuotas } from './project-quotas.js';
import type { QuotaStore } from './store.js';

/** How much of a kind a request takes: a whole number, or what tells it from the request. */
export type Cost<Req> = number | ((req: Req) => number | Promise<number>);

/** What a request takes of its project, and what happens when there is no more. */
export interface EnforceQuotaOptions<Req extends IncomingMessage = IncomingMessage> {
  readonly quota: ProjectQuotas;
  /** The kind a request takes one of, or `cost` of. Either this or `kinds`. */
  readonly kind?: string;
  /** How much of the one `kind`. Default 1. */
  readonly cost?: Cost<Req>;
  /** Several kinds, all or none: `{ secrets: 1, orders: (req) => req.body.orders.length }`. */
  readonly kinds?: Readonly<Record<string, Cost<Req>>>;
  /** Whose limits: the id of the project the request acts for. */
  readonly project: (req: Req) => string | Promise<string>;
  /** `take` reserves before the handler; `give-back` returns after it. Default: give-back for DELETE, else take. */
  readonly direction?: 'take' | 'give-back';
  /** Whether an answer means that the handler did its work. Default: status below 400. */
  readonly succeeded?: (res: ServerResponse, req: Req) => boolean;
  /** Status of the refusal. Default 403. */
  readonly status?: 403 | 429;
  /** What the refusal calls the operation. Default from the first kind: "Secret creation", "Order creation", ... */
  readonly operation?: string;
  /** `answer` sends the documented body; `next` hands the error to the error handlers. Default `answer`. */
  readonly failWith?: 'answer' | 'next';
  /**
   * What happens while the store fails: `closed` refuses with 503, `open` lets pass uncounted, a store (for example
   * `memoryStore()`) counts there meanwhile. Default `closed`.
   */
  readonly onStoreError?: 'closed' | 'open' | QuotaStore;
  /** Sees each refusal with requested, used and limit, which the answer does not tell; may answer by itself. */
  readonly onExceeded?: (error: QuotaExceeded, req: Req, res: ServerResponse) => void;
  /** Sees what went wrong and could not be answered: store failures, reservations that ended before they were settled. */
  readonly onError?: (error: unknown, req: Req) => void;
  /**
   * How long a reservation holds, in ms. It is renewed while the client waits, and once more when it hangs up: let it
   * be longer than a handler ever works. Default that of the quota.
   */
  readonly ttlMs?: number;
}

/** Options with every default filled in. */
export interface EnforceSettings<Req extends IncomingMessage> {
  readonly quota: ProjectQuotas;
  readonly fallback: ProjectQuotas | 'closed' | 'open';
  readonly costs: readonly (readonly [string, Cost<Req>])[];
  readonly project: (req: Req) => string | Promise<string>;
  readonly direction: 'take' | 'give-back' | undefined;
  readonly succeeded: (res: ServerResponse, req: Req) => boolean;
  readonly status: 403 | 429;
  readonly operation: string;
  readonly failWith: 'answer' | 'next';
  readonly onExceeded: (error: QuotaExceeded, req: Req, res: ServerResponse) => void;
  readonly onError: (error: unknown, req: Req) => void;
  readonly reserveOptions: { readonly ttlMs?: number };
}

const KNOWN: Readonly<Record<keyof EnforceQuotaOptions, true>> = {
  quota: true,
  kind: true,
  cost: true,
  kinds: true,
  project: true,
  direction: true,
  succeeded: true,
  status: true,
  operation: true,
  failWith: true,
  onStoreError: true,
  onExceeded: true,
  onError: true,
  ttlMs: true,
};

/** What the documented answers call the making of a thing. */
const OPERATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    secrets: 'Secret creation',
    orders: 'Order creation',
    containers: 'Container creation',
    consumers: 'ContainerConsumer creation',
    cas: 'CA creation',
  }),
);

export function enforceSettings<Req extends IncomingMessage>(options: EnforceQuotaOptions<Req>): EnforceSettings<Req> {
  checkOptions('enforceQuota', options, KNOWN);
  const { quota, project, onStoreError = 'closed', direction, status = 403, failWith = 'answer', ttlMs } = options;
  if (!quota) throw new TypeError('enforceQuota: a quota is needed: projectQuotas({ store })');
  if (typeof project !== 'function') throw new TypeError('enforceQuota: project must be a function of the request');
  oneOf('direction', direction, ['take', 'give-back', undefined]);
  oneOf('status', status, [403, 429]);
  oneOf('failWith', failWith, ['answer', 'next']);
  if (typeof onStoreError === 'string') oneOf('onStoreError', onStoreError, ['closed', 'open']);
  const costs = costsOf(options);
  return {
    quota,
    fallback: typeof onStoreError === 'string' ? onStoreError : quota.withStore(onStoreError),
    costs,
    project,
    direction,
    succeeded: options.succeeded ?? ((res) => res.statusCode < 400),
    status,
    operation: options.operation ?? operationOf(costs[0][0]),
    failWith,
    onExceeded: options.onExceeded ?? (() => undefined),
    onError: unfailing(options.onError),
    reserveOptions: ttlMs === undefined ? {} : { ttlMs },
  };
}

/** The amounts one request asks for. */
export async function amountsOf<Req extends IncomingMessage>(
  { costs }: EnforceSettings<Req>,
  req: Req,
): Promise<Amounts> {
  const amounts: Record<string, number> = {};
  for (const [kind, cost] of costs) amounts[kind] = typeof cost === 'number' ? cost : await cost(req);
  return amounts;
}

type NamedCost<Req> = readonly [kind: string, cost: Cost<Req>];

function givenCosts<Req extends IncomingMessage>(options: EnforceQuotaOptions<Req>): readonly NamedCost<Req>[] {
  const { kind, cost, kinds } = options;
  if (kind !== undefined && kinds === undefined) return [[kind, cost ?? 1]];
  if (kind !== undefined || kinds === undefined) throw new TypeError('enforceQuota: give either kind or kinds');
  if (cost !== undefined) throw new TypeError('enforceQuota: with kinds, the cost stands beside each kind');
  return Object.entries(kinds);
}

function costsOf<Req extends IncomingMessage>(
  options: EnforceQuotaOptions<Req>,
): readonly [NamedCost<Req>, ...NamedCost<Req>[]] {
  const { quota } = options;
  const costs = givenCosts(options);
  const [first, ...others] = costs;
  if (!first) throw new TypeError('enforceQuota: kinds must name at least one kind');
  for (const [name, value] of costs) {
    if (!quota.kinds.includes(name)) {
      throw new InvalidQuota(`enforceQuota: there is no kind "${name}"; kinds are ${quota.kinds.join(', ')}`);
    }
    if (typeof value !== 'function' && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new InvalidQuota(`enforceQuota: the cost of ${name} must be a whole number of at least 0, or a function`);
    }
  }
  return [first, ...others];
}

/** A hook that throws where nobody can catch it would end the process. */
function unfailing<Args extends unknown[]>(hook: ((...args: Args) => void) | undefined): (...args: Args) => void {
  return (...args) => {
    try {
      hook?.(...args);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function operationOf(kind: string): string {
  return OPERATIONS.get(kind) ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1)} creation`;
}

function oneOf(option: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return;
  const names = allowed.filter((name) => name !== undefined).map((name) => JSON.stringify(name));
  throw new TypeError(`enforceQuota: ${option} must be ${names.join(' or ')}`);
}
