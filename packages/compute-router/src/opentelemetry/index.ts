import type { EngineObserver } from '@apistrata/compute-engine/observation';
import { type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import type { ApiObserver } from '../http/api-observer.js';
import { apiTraces } from './api-traces.js';
import { engineTraces, traceHeaders } from './engine-traces.js';

/** Options of `openTelemetry()`. */
export interface OpenTelemetryOptions {
  /** Default: the tracer `@apistrata/compute` of the registered provider. */
  readonly tracer?: Tracer;
}

/** Traces of one engine and one API. */
export interface OpenTelemetryTraces {
  /** Observer for `createEngine({ observer })`. */
  readonly engine: EngineObserver;
  /** Observer for `computeApi({ observer })` and `computeRouter({ observer })`. */
  readonly api: ApiObserver;
  /**
   * Headers for clients of other services: `httpImages({ headers })`, `new ServiceSession(..., { headers })`,
   * `identityService({ headers })`.
   */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Makes the SDK send its buffered spans, before the program exits. Rejects if they cannot be sent. */
  readonly flush: () => Promise<void>;
}

/** Flushes the registered provider; the global provider is only a proxy for it. */
async function flushProvider(): Promise<void> {
  // The API does not define a flush, and SDKs may define other interfaces: the methods are checked at run time.
  type Flushable = { getDelegate?(): Flushable; forceFlush?(): Promise<void> };
  const provider = trace.getTracerProvider() as TracerProvider & Flushable;
  const registered = provider.getDelegate?.() ?? provider;
  await registered.forceFlush?.();
}

/**
 * Creates traces with `@opentelemetry/api`, an optional peer dependency; the program's SDK exports the spans. A
 * request, its stages and statements, the background jobs that it enqueues and their driver steps form one trace, also
 * across processes. The trace continues the trace context of the request's headers, in the format of the registered
 * propagator (W3C trace context, by default).
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import { computeApi, noauth } from '@apistrata/compute-router';
 * import { openTelemetry } from '@apistrata/compute-router/opentelemetry';
 *
 * const traces = openTelemetry();
 * const engine = await createEngine({ observer: traces.engine });
 * const api = computeApi({ engine, identity: noauth(), observer: traces.api });
 * ```
 */
export function openTelemetry({
  tracer = trace.getTracer('@apistrata/compute'),
}: OpenTelemetryOptions = {}): OpenTelemetryTraces {
  return { engine: engineTraces(tracer), api: apiTraces(tracer), headers: traceHeaders, flush: flushProvider };
}
