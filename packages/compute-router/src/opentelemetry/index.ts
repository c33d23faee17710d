import type { EngineObserver } from '@apistrata/compute-engine/observation';
import { type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import type { ApiObserver } from '../http/api-observer.js';
import { apiTraces } from './api-traces.js';
import { engineTraces, traceHeaders } from './engine-traces.js';

/** Options for `openTelemetry()`. */
export interface OpenTelemetryOptions {
  /** Tracer that creates the spans. Default: the registered provider's tracer `@apistrata/compute`. */
  readonly tracer?: Tracer;
}

/** Observers and helpers that trace one engine and one API. */
export interface OpenTelemetryTraces {
  /** Observer for `createEngine({ observer })`. */
  readonly engine: EngineObserver;
  /** Observer for `computeApi({ observer })` and `computeRouter({ observer })`. */
  readonly api: ApiObserver;
  /**
   * Returns the trace context headers for requests to other services. Pass it to `httpImages({ headers })`, `new
   * ServiceSession(..., { headers })` and `identityService({ headers })`.
   */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Sends the spans that the SDK has buffered. Call it before the program exits. Rejects if they cannot be sent. */
  readonly flush: () => Promise<void>;
}

/** Flushes the registered provider. The global provider is only a proxy for it. */
async function flushProvider(): Promise<void> {
  // The OpenTelemetry API does not define a flush method, and SDKs differ, so the methods are checked at run time.
  type Flushable = { getDelegate?(): Flushable; forceFlush?(): Promise<void> };
  const provider = trace.getTracerProvider() as TracerProvider & Flushable;
  const registeredProvider = provider.getDelegate?.() ?? provider;
  await registeredProvider.forceFlush?.();
}

/**
 * Creates traces with `@opentelemetry/api`, an optional peer dependency; the program's SDK exports the spans. One trace
 * contains a request, its stages and database statements, the background jobs that it enqueues, and their driver calls,
 * even if these run in several processes. The trace continues the trace context in the request's headers, in the format
 * that the registered propagator reads (by default, W3C Trace Context).
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
