import { type Attributes, type SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';

/** Something that is over already. Times by `performance.now()`, in milliseconds. */
export interface Past {
  readonly name: string;
  readonly kind: SpanKind;
  readonly begunAt: number;
  readonly ms: number;
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

/** Adds what is over to the span of the moment; nothing where there is none, or where nobody records it. */
export function recordPast(tracer: Tracer, { name, kind, begunAt, ms, attributes, failed }: Past): void {
  if (!trace.getActiveSpan()?.isRecording()) return;
  const startTime = performance.timeOrigin + begunAt;
  const span = tracer.startSpan(name, { kind, startTime, attributes });
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(startTime + ms);
}
