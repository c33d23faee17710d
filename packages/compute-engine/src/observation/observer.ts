import type { StoreObserver } from '@apistrata/record-store';

/** Work that an observer may run within something of its own: a span. */
export type ObservedWork =
  | {
      readonly type: 'job';
      /** Name of the action or cleanup. */
      readonly kind: string;
      readonly id: string;
      readonly serverId: string | null;
      readonly requestId: string;
      readonly attempt: number;
      /** What `traceContext` said when the work was written down, perhaps in another process. */
      readonly traceContext: TraceContext | undefined;
    }
  | { readonly type: 'step'; readonly verb: string; readonly serverId: string };

/** Headers that carry a trace on: `traceparent`, for one. */
export type TraceContext = Readonly<Record<string, string>>;

/**
 * How a try of a job ended. `done`: its work succeeded. `failed`: it did not, and its server says so. `superseded`:
 * another job has taken the server over, or the server is gone. `retried`: it broke down and is tried again.
 * `stopped`: this process is ending, or has lost it to another.
 */
export type JobOutcome = 'done' | 'failed' | 'superseded' | 'retried' | 'stopped';

/** A piece of background work that has ended. Times in milliseconds. */
export interface ObservedJob {
  readonly kind: string;
  readonly outcome: JobOutcome;
  readonly attempt: number;
  /** How long this try took, in milliseconds. */
  readonly ms: number;
  /** How long it was due before this try began, in milliseconds. */
  readonly waitedMs: number;
}

/** A step of a machine that has ended. Times in milliseconds. */
export interface ObservedStep {
  /** What the machine was told to do. */
  readonly verb: string;
  readonly outcome: 'done' | 'failed' | 'stopped';
  readonly ms: number;
}

/** One kind of thing of which a project asked for more than it may have. */
export interface QuotaExcess {
  readonly kind: string;
  readonly requested: number;
  readonly used: number;
  readonly limit: number;
}

/** A request that would have taken more than there is. */
export interface QuotaRefused {
  readonly projectId: string;
  readonly userId: string;
  readonly exceeded: readonly QuotaExcess[];
}

/** Where a request that only reads was sent. */
export interface ObservedReading {
  /** Name of the replica (host, port and database); undefined for the primary. */
  readonly replica: string | undefined;
}

/** Events that were not kept any longer, and that a webhook had not taken until then. */
export interface DroppedEvents {
  /** Host, and port if any, of the webhook's URL. */
  readonly webhook: string;
  readonly count: number;
}

/**
 * Looks on while an engine works: for metrics and traces. What is left out costs nothing. It is called in the middle of
 * the work, so it is quick, and it throws nothing.
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
  /** Runs a piece of work. It calls `run` once and gives on what comes of it. */
  readonly around?: <T>(work: ObservedWork, run: () => Promise<T>) => Promise<T>;
  /** What background work that is written down now shall carry with it. */
  readonly traceContext?: () => TraceContext | undefined;
  /** With replicas: a request that only reads was sent to one of them, or to the primary. */
  readonly reading?: (told: ObservedReading) => void;
  readonly job?: (told: ObservedJob) => void;
  readonly step?: (told: ObservedStep) => void;
  /** A request was refused because its project, or its user, has no room for it. */
  readonly overQuota?: (told: QuotaRefused) => void;
  /** Events grew too old before a webhook took them: it will never be told. */
  readonly eventsDropped?: (told: DroppedEvents) => void;
}

export const engineObserverHooks: Readonly<Record<keyof EngineObserver, true>> = {
  around: true,
  traceContext: true,
  statement: true,
  pool: true,
  commit: true,
  reading: true,
  job: true,
  step: true,
  overQuota: true,
  eventsDropped: true,
};

/** Makes one of the hooks of several; undefined where nobody has it, so that it costs nothing. */
function told<T>(hooks: readonly (((told: T) => void) | undefined)[]): ((told: T) => void) | undefined {
  const present = hooks.filter((hook) => hook !== undefined);
  if (present.length < 2) return present[0];
  return (what) => {
    for (const hook of present) hook(what);
  };
}

/** Makes one observer of several. The first is the outermost around work. */
export function observedBy(observers: readonly EngineObserver[]): EngineObserver {
  if (observers.length < 2) return observers[0] ?? {};
  const arounds = observers.flatMap(({ around }) => (around ? [around] : []));
  const contexts = observers.flatMap(({ traceContext }) => (traceContext ? [traceContext] : []));
  return {
    around: arounds.reduceRight<EngineObserver['around']>(
      (inner, outer) => (inner ? (work, run) => outer(work, () => inner(work, run)) : outer),
      undefined,
    ),
    traceContext: contexts.length === 0 ? undefined : () => Object.assign({}, ...contexts.map((ask) => ask())),
    statement: told(observers.map(({ statement }) => statement)),
    pool: told(observers.map(({ pool }) => pool)),
    commit: told(observers.map(({ commit }) => commit)),
    reading: told(observers.map(({ reading }) => reading)),
    job: told(observers.map(({ job }) => job)),
    step: told(observers.map(({ step }) => step)),
    overQuota: told(observers.map(({ overQuota }) => overQuota)),
    eventsDropped: told(observers.map(({ eventsDropped }) => eventsDropped)),
  };
}
