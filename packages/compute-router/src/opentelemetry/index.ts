import type { EngineObserver } from '@apistrata/compute-engine/observation';
import { type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import type { ApiObserver } from '../http/api-observer.js';
import { apiTraces } from './api-traces.js';
import { engineTraces, traceHeaders } from './engine-traces.js';

/** Where spans go. */
export interface OpenTelemetryOptions {
  /** Default: the tracer `@apistrata/compute` of the provider that the program has registered. */
  readonly tracer?: Tracer;
}

/** Traces of one engine and one API. */
export interface OpenTelemetryTraces {
  /** For `createEngine({ observer })`. */
  readonly engine: EngineObserver;
  /** For `computeApi({ observer })` and `computeRouter({ observer })`. */
  readonly api: ApiObserver;
  /** For clients of other services: `httpImages({ headers })`, `new ServiceSession(..., { headers })`, `identityService({ headers })`. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Has the SDK send what it still holds: for programs that are about to end. Rejects where that cannot be sent. */
  readonly flush: () => Promise<void>;
}

/** The provider that the program has registered, behind the one that stands for whatever will be. */
async function flushProvider(): Promise<void> {
  // The interface knows of no end, and the SDK may have an interface of its own: every provider is asked what it can do.
  type Flushable = { getDelegate?(): Flushable; forceFlush?(): Promise<void> };
  const provider = trace.getTracerProvider() as TracerProvider & Flushable;
  const registered = provider.getDelegate?.() ?? provider;
  await registered.forceFlush?.();
}

/**
 * Traces through `@opentelemetry/api`, which is to be installed beside this package; spans go wherever the program's SDK
 * sends them. A request, its stages and statements, the background work it leaves and the steps of machines are one
 * trace, in whatever process they are done. It begins with what the request's headers say, in the form of the
 * registered propagator (W3C trace context, by default).
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
