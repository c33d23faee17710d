import type { EngineObserver, ObservedWork, TraceContext } from '@apistrata/compute-engine/observation';
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { recordCompletedSpan } from './span-times.js';

/** Returns the headers that propagate the current trace context to an outgoing request or a background job. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}

function traceContext(): TraceContext | undefined {
  return trace.getActiveSpan() && traceHeaders();
}

function attributesOf(work: ObservedWork): Attributes {
  if (work.type === 'step') return { 'apistrata.server.id': work.serverId };
  return {
    'apistrata.job.id': work.id,
    'apistrata.job.attempt': work.attempt,
    'apistrata.request.id': work.requestId,
    ...(work.serverId !== null && { 'apistrata.server.id': work.serverId }),
  };
}

/** Calls `run` within a span, records an error if it throws, and ends the span. */
async function runInSpan<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    span.recordException(error as Error);
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/**
 * Creates the observer that records spans for background jobs, driver calls and database statements. A job belongs to
 * the trace of the request that enqueued it.
 */
export function engineTraces(tracer: Tracer): EngineObserver {
  function around<T>(work: ObservedWork, run: () => Promise<T>): Promise<T> {
    const attributes = attributesOf(work);
    if (work.type === 'step') {
      return tracer.startActiveSpan(`step ${work.verb}`, { attributes }, (span) => runInSpan(span, run));
    }
    // The trace context that is active in the worker does not belong to the job.
    const originContext = propagation.extract(ROOT_CONTEXT, work.traceContext ?? {});
    const options = { kind: SpanKind.CONSUMER, attributes };
    return tracer.startActiveSpan(`job ${work.kind}`, options, originContext, (span) => runInSpan(span, run));
  }

  return {
    around,
    traceContext,
    statement: ({ name, rows, startedAt, ms, failed }) =>
      recordCompletedSpan(tracer, {
        name,
        kind: SpanKind.CLIENT,
        startedAt,
        ms,
        failed,
        attributes: { 'db.query.summary': name, 'db.response.returned_rows': rows },
      }),
    job({ outcome }) {
      const span = trace.getActiveSpan();
      span?.setAttribute('apistrata.job.outcome', outcome);
      if (outcome === 'failed' || outcome === 'retried') span?.setStatus({ code: SpanStatusCode.ERROR });
    },
  };
}
