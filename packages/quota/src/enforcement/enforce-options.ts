import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkOptions } from '../check-options.js';
import type { QuotaExceeded } from '../errors.js';
import { InvalidQuota, QuotaStoreError } from '../errors.js';
import type { Amounts } from '../limits.js';
import type { ProjectQuotas } from '../project-quotas.js';
import type { QuotaStore } from '../store.js';
import { type EnforcementError, errorRenderer, type QuotaErrorsOption, type RenderError } from './error-formats.js';

/** How much of a resource kind a request uses: an integer of at least 0, or a function that returns it for a request. */
export type Cost<Req> = number | ((req: Req) => number | Promise<number>);

/** Options for `enforceQuota()`: how much quota a request uses, and the response if a limit is exceeded. */
export interface EnforceQuotaOptions<Req = IncomingMessage> {
  readonly quota: ProjectQuotas;
  /** The kind of resource that a request creates or deletes. Set either this or `kinds`. */
  readonly kind?: string;
  /** How many resources of the `kind` a request uses. Default 1. */
  readonly cost?: Cost<Req>;
  /**
   * How many resources of several kinds a request uses; all are reserved together or none:
   * `{ secrets: 1, orders: (req) => req.body.orders.length }`.
   */
  readonly kinds?: Readonly<Record<string, Cost<Req>>>;
  /** Returns the id of the project whose quota the request uses. */
  readonly project: (req: Req) => string | Promise<string>;
  /**
   * `reserve` reserves quota before the handler runs; `release` releases used quota after the handler has succeeded. Default:
   * `release` for DELETE, otherwise `reserve`.
   */
  readonly direction?: 'reserve' | 'release';
  /** Returns whether the response means that the handler succeeded. Default: statuses below 400 do. */
  readonly succeeded?: (res: ServerResponse, req: Req) => boolean;
  /** The response status if a limit is exceeded. Default 403. */
  readonly status?: 403 | 429;
  /**
   * The operation name in the error body, if `errors` is `documented`. Default: derived from the first kind, such as
   * "Secret creation" or "Order creation".
   */
  readonly operation?: string;
  /** How errors are sent. Default `problem`; `documented` with the quota preset `key-manager`. */
  readonly errors?: QuotaErrorsOption;
  /**
   * Which responses have `RateLimit` and `RateLimit-Policy` headers: `rejections`, `always` (which reads the usage for each
   * request), or `never`. Default `rejections`; `never` with the preset `key-manager`.
   */
  readonly rateLimitHeaders?: 'rejections' | 'always' | 'never';
  /**
   * The value of the `Retry-After` header in error responses, in seconds, or a function that returns it (undefined: no
   * header). Default: 5 while the store is unavailable; no header if a quota is exceeded, or with the preset
   * `key-manager`.
   */
  readonly retryAfter?: number | ((error: EnforcementError) => number | undefined);
  /**
   * The behavior while the store is unavailable: `closed` responds with 503, `open` accepts requests without counting them, and
   * another store (for example `memoryStore()`) counts them in the meantime. Default `closed`.
   */
  readonly onStoreError?: 'closed' | 'open' | QuotaStore;
  /**
   * Called when a limit is exceeded; `error.details` contains the requested and used amounts and the limits. The
   * function may send a custom response.
   */
  readonly onExceeded?: (error: QuotaExceeded, req: Req, res: ServerResponse) => void;
  /**
   * Called with failures that the client does not see: store failures, and reservations that expired before they were settled.
   */
  readonly onError?: (error: unknown, req: Req) => void;
  /**
   * Time-to-live of a reservation in milliseconds. The reservation is renewed periodically while the client is
   * connected, and once when the client disconnects, so the time-to-live should be longer than a handler can run after
   * a disconnect. Default: `ttlMs` of the quota.
   */
  readonly ttlMs?: number;
}

/** The validated options with all defaults. */
export interface EnforceSettings<Req> {
  readonly quota: ProjectQuotas;
  readonly fallback: ProjectQuotas | 'closed' | 'open';
  readonly costs: readonly (readonly [string, Cost<Req>])[];
  readonly project: (req: Req) => string | Promise<string>;
  readonly direction: 'reserve' | 'release' | undefined;
  readonly succeeded: (res: ServerResponse, req: Req) => boolean;
  readonly status: 403 | 429;
  readonly format: RenderError;
  readonly rateLimitHeaders: 'rejections' | 'always' | 'never';
  readonly retryAfter: (error: EnforcementError) => number | undefined;
  readonly onExceeded: (error: QuotaExceeded, req: Req, res: ServerResponse) => void;
  readonly onError: (error: unknown, req: Req) => void;
  readonly reserveOptions: { readonly ttlMs?: number };
}

/** The names of all `enforceQuota()` options. */
export const ENFORCE_OPTIONS: Readonly<Record<keyof EnforceQuotaOptions, true>> = {
  quota: true,
  kind: true,
  cost: true,
  kinds: true,
  project: true,
  direction: true,
  succeeded: true,
  status: true,
  operation: true,
  errors: true,
  rateLimitHeaders: true,
  retryAfter: true,
  onStoreError: true,
  onExceeded: true,
  onError: true,
  ttlMs: true,
};

/** The operation names in `documented` error bodies, by resource kind. */
const OPERATION_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    secrets: 'Secret creation',
    orders: 'Order creation',
    containers: 'Container creation',
    consumers: 'ContainerConsumer creation',
    cas: 'CA creation',
  }),
);

/** Validates options and adds defaults. @throws TypeError or InvalidQuota if an option is invalid */
export function enforceSettings<Req>(options: EnforceQuotaOptions<Req>): EnforceSettings<Req> {
  checkOptions('enforceQuota', options, ENFORCE_OPTIONS);
  const { quota, project, onStoreError = 'closed', direction, status = 403, ttlMs } = options;
  if (!quota) throw new TypeError('enforceQuota: a quota is required: projectQuotas({ store, kinds })');
  if (typeof project !== 'function')
    throw new TypeError('enforceQuota: project must be a function that returns the project id of a request');
  checkChoice('direction', direction, ['reserve', 'release', undefined]);
  checkChoice('status', status, [403, 429]);
  const { errors = quota.preset.errors, rateLimitHeaders = quota.preset.rateLimitHeaders } = options;
  checkChoice('rateLimitHeaders', rateLimitHeaders, ['rejections', 'always', 'never']);
  if (typeof onStoreError === 'string') checkChoice('onStoreError', onStoreError, ['closed', 'open']);
  const costs = validatedCosts(options);
  return {
    quota,
    fallback: typeof onStoreError === 'string' ? onStoreError : quota.withStore(onStoreError),
    costs,
    project,
    direction,
    succeeded: options.succeeded ?? ((res) => res.statusCode < 400),
    status,
    format: errorRenderer(errors, options.operation ?? operationNameOf(costs[0][0])),
    rateLimitHeaders,
    retryAfter: retryAfterOf(options),
    onExceeded: options.onExceeded ?? (() => undefined),
    onError: ignoreErrors(options.onError),
    reserveOptions: ttlMs === undefined ? {} : { ttlMs },
  };
}

function retryAfterOf<Req>({
  quota,
  retryAfter,
}: EnforceQuotaOptions<Req>): (error: EnforcementError) => number | undefined {
  if (typeof retryAfter === 'function') return retryAfter;
  if (retryAfter === undefined)
    return (error) => (error instanceof QuotaStoreError ? quota.preset.retryAfterStoreError : undefined);
  if (Number.isSafeInteger(retryAfter) && retryAfter >= 0) return () => retryAfter;
  throw new TypeError('enforceQuota: retryAfter must be an integer number of seconds, or a function that returns it');
}

/** Returns how many resources of each kind a request uses. */
export async function amountsOf<Req>({ costs }: EnforceSettings<Req>, req: Req): Promise<Amounts> {
  const amounts: Record<string, number> = {};
  for (const [kind, cost] of costs) amounts[kind] = typeof cost === 'number' ? cost : await cost(req);
  return amounts;
}

type NamedCost<Req> = readonly [kind: string, cost: Cost<Req>];

function configuredCosts<Req>(options: EnforceQuotaOptions<Req>): readonly NamedCost<Req>[] {
  const { kind, cost, kinds } = options;
  if (kind !== undefined && kinds === undefined) return [[kind, cost ?? 1]];
  if (kind !== undefined || kinds === undefined) throw new TypeError('enforceQuota: set either kind or kinds');
  if (cost !== undefined)
    throw new TypeError("enforceQuota: 'cost' applies only to 'kind'; set the cost of each kind in 'kinds'");
  return Object.entries(kinds);
}

function validatedCosts<Req>(options: EnforceQuotaOptions<Req>): readonly [NamedCost<Req>, ...NamedCost<Req>[]] {
  const { quota } = options;
  const costs = configuredCosts(options);
  const [first, ...others] = costs;
  if (!first) throw new TypeError('enforceQuota: kinds must name at least one kind');
  for (const [name, value] of costs) {
    if (!quota.kinds.includes(name)) {
      throw new InvalidQuota(`enforceQuota: unknown kind "${name}"; kinds are ${quota.kinds.join(', ')}`);
    }
    if (typeof value !== 'function' && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new InvalidQuota(`enforceQuota: the cost of ${name} must be an integer of at least 0, or a function`);
    }
  }
  return [first, ...others];
}

/** Wraps a hook so that its errors are ignored. If it threw outside of a request, the error would end the process. */
function ignoreErrors<Args extends unknown[]>(hook: ((...args: Args) => void) | undefined): (...args: Args) => void {
  return (...args) => {
    try {
      hook?.(...args);
    } catch {
      // The error is ignored, because no other code can receive it.
    }
  };
}

function operationNameOf(kind: string): string {
  return OPERATION_NAMES.get(kind) ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1)} creation`;
}

function checkChoice(option: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  const names = choices.filter((choice) => choice !== undefined).map((choice) => JSON.stringify(choice));
  throw new TypeError(`enforceQuota: ${option} must be ${names.join(' or ')}`);
}
