import type { StoreObserver } from '@apistrata/record-store';

/** A unit of work that an observer may run inside a span. */
export type ObservedWork =
  | {
      readonly type: 'job';
      /** Name of the action or cleanup. */
      readonly kind: string;
      readonly id: string;
      readonly serverId: string | null;
      readonly requestId: string;
      readonly attempt: number;
      /** The result of `traceContext` when the job was stored, possibly by another process. */
      readonly traceContext: TraceContext | undefined;
    }
  | { readonly type: 'step'; readonly verb: string; readonly serverId: string };

/** Headers that propagate a trace, such as `traceparent`. */
export type TraceContext = Readonly<Record<string, string>>;

/**
 * Outcome of a job attempt. `done`: it succeeded. `failed`: it failed, and the server shows the failure. `superseded`:
 * another job has taken over the server, or the server is deleted. `retried`: it failed unexpectedly and is retried.
 * `stopped`: this process is closing, or has lost the lease.
 */
export type JobOutcome = 'done' | 'failed' | 'superseded' | 'retried' | 'stopped';

/** A completed attempt of a background job. */
export interface ObservedJob {
  readonly kind: string;
  readonly outcome: JobOutcome;
  readonly attempt: number;
  /** Duration of this attempt in milliseconds. */
  readonly ms: number;
  /** How long the attempt was due before it started, in milliseconds. */
  readonly waitedMs: number;
}

/** A completed driver command. */
export interface ObservedStep {
  /** The driver verb. */
  readonly verb: string;
  readonly outcome: 'done' | 'failed' | 'stopped';
  /** Duration of the command in milliseconds. */
  readonly ms: number;
}

/** A resource whose quota a request exceeded. */
export interface QuotaExcess {
  readonly kind: string;
  readonly requested: number;
  readonly used: number;
  readonly limit: number;
}

/** A request that exceeded a quota. */
export interface QuotaRejection {
  readonly projectId: string;
  readonly userId: string;
  readonly exceeded: readonly QuotaExcess[];
}

/** The database to which a read-only request was sent. */
export interface ReadTarget {
  /** Name of the replica (host, port and database); undefined for the primary. */
  readonly replica: string | undefined;
}

/** How a server list is read. */
export interface ObservedList {
  readonly requestId: string;
  /** Whether the list is limited to one project. */
  readonly ofProject: boolean;
  /**
   * - `newest`: the prepared statement for the newest servers
   * - `rows`: one query
   * - `merged`: one query for each alternative in the filters
   * - `substrings`: an index scan and trigrams, on PostgreSQL
   */
  readonly source: 'newest' | 'rows' | 'merged' | 'substrings';
  /** Where servers are sorted. If they are sorted in memory, every matching server is read. */
  readonly order: 'database' | 'memory';
  /** Where filters are applied: only in the database, or also to the records in this process. */
  readonly filters: 'database' | 'records';
  /** Whether an index leads directly to the page. */
  readonly indexed: boolean;
}

/** Notifications that were purged before a webhook accepted them. */
export interface DroppedEvents {
  /** Host of the webhook's URL, with the port if there is one. */
  readonly webhook: string;
  readonly count: number;
}

/** A notification that a webhook did not accept in any of its attempts. */
export interface RejectedEvent {
  /** Host of the webhook's URL, with the port if there is one. */
  readonly webhook: string;
  readonly type: string;
}

/**
 * Hooks for metrics and traces. Omitted hooks cost nothing. Hooks are called synchronously during the work, so they
 * must be fast and must not throw.
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import type { EngineObserver } from '@apistrata/compute-engine/observation';
 *
 * const observer: EngineObserver = { step: ({ verb, outcome, ms }) => console.log(verb, outcome, ms) };
 * const engine = await createEngine({ observer });
 * ```
 */
export interface EngineObserver extends StoreObserver {
  /** Runs a unit of work. It must call `run` once and return its result. */
  readonly around?: <T>(work: ObservedWork, run: () => Promise<T>) => Promise<T>;
  /** Returns the trace context to store with a new job. */
  readonly traceContext?: () => TraceContext | undefined;
  /** Called when a replica or the primary is selected for a read-only request. Not called without replicas. */
  readonly reading?: (event: ReadTarget) => void;
  /** Called when the query for a server list is planned. */
  readonly list?: (plan: ObservedList) => void;
  /** Called after each attempt of a job. */
  readonly job?: (event: ObservedJob) => void;
  /** Called after each driver command. */
  readonly step?: (event: ObservedStep) => void;
  /** Called when a request is rejected because it exceeds a quota of its project or user. */
  readonly overQuota?: (event: QuotaRejection) => void;
  /** Called when notifications are purged before a webhook has accepted them, so that they are never delivered. */
  readonly eventsDropped?: (event: DroppedEvents) => void;
  /** Called when a notification becomes a dead letter of a webhook. */
  readonly eventRejected?: (event: RejectedEvent) => void;
}

export const engineObserverHooks: Readonly<Record<keyof EngineObserver, true>> = {
  around: true,
  traceContext: true,
  statement: true,
  pool: true,
  commit: true,
  reading: true,
  list: true,
  job: true,
  step: true,
  overQuota: true,
  eventsDropped: true,
  eventRejected: true,
};

/** Combines one hook of several observers. Returns undefined if no observer has the hook, so that it costs nothing. */
function combineHook<T>(hooks: readonly (((event: T) => void) | undefined)[]): ((event: T) => void) | undefined {
  const definedHooks = hooks.filter((hook) => hook !== undefined);
  if (definedHooks.length < 2) return definedHooks[0];
  return (event) => {
    for (const hook of definedHooks) hook(event);
  };
}

/** Combines observers. The `around` hook of the first observer is the outermost. */
export function combineObservers(observers: readonly EngineObserver[]): EngineObserver {
  if (observers.length < 2) return observers[0] ?? {};
  const wrappers = observers.flatMap(({ around }) => (around ? [around] : []));
  const contextGetters = observers.flatMap(({ traceContext }) => (traceContext ? [traceContext] : []));
  return {
    around: wrappers.reduceRight<EngineObserver['around']>(
      (inner, outer) => (inner ? (work, run) => outer(work, () => inner(work, run)) : outer),
      undefined,
    ),
    traceContext:
      contextGetters.length === 0
        ? undefined
        : () => Object.assign({}, ...contextGetters.map((getContext) => getContext())),
    statement: combineHook(observers.map(({ statement }) => statement)),
    pool: combineHook(observers.map(({ pool }) => pool)),
    commit: combineHook(observers.map(({ commit }) => commit)),
    reading: combineHook(observers.map(({ reading }) => reading)),
    list: combineHook(observers.map(({ list }) => list)),
    job: combineHook(observers.map(({ job }) => job)),
    step: combineHook(observers.map(({ step }) => step)),
    overQuota: combineHook(observers.map(({ overQuota }) => overQuota)),
    eventsDropped: combineHook(observers.map(({ eventsDropped }) => eventsDropped)),
    eventRejected: combineHook(observers.map(({ eventRejected }) => eventRejected)),
  };
}
