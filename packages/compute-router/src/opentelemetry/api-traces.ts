import { operationKey } from '@apistrata/microversion-router';
import { context, propagation, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { ApiObserver } from '../http/api-observer.js';
import { urlPath } from '../http/url-path.js';
import { recordCompletedSpan } from './span-times.js';

/**
 * Creates the observer that records spans for API requests and their stages. If another instrumentation has started a
 * span for the request, the API's span is a child of that span.
 */
export function apiTraces(tracer: Tracer): Required<Pick<ApiObserver, 'around' | 'stage' | 'request'>> {
  return {
    around(req, serve) {
      const activeContext = context.active();
      const parentContext = trace.getSpan(activeContext)
        ? activeContext
        : propagation.extract(activeContext, req.headers);
      const method = req.method ?? 'GET';
      const attributes = { 'http.request.method': method, 'url.path': urlPath(req) };
      return tracer.startActiveSpan(method, { kind: SpanKind.SERVER, attributes }, parentContext, async (span) => {
        try {
          await serve();
        } finally {
          span.end();
        }
      });
    },
    stage: (name, startedAt, ms) => recordCompletedSpan(tracer, { name, kind: SpanKind.INTERNAL, startedAt, ms }),
    request({ operation, version, status, error }) {
      const span = trace.getActiveSpan();
      if (!span?.isRecording()) return;
      span.setAttribute('http.response.status_code', status);
      if (version) span.setAttribute('apistrata.version', version.text);
      if (operation) {
        span.updateName(operationKey(operation));
        span.setAttribute('http.route', operation.path);
      }
      if (status < 500) return;
      span.setStatus({ code: SpanStatusCode.ERROR });
      if (error instanceof Error) span.recordException(error);
    },
  };
}
