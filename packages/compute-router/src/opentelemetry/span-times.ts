import { type Attributes, type SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';

/** A completed operation to record as a span. Times are values of `performance.now()`, in milliseconds. */
export interface CompletedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: number;
  readonly ms: number;
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

/**
 * Records a completed operation as a child of the active span. If there is no active span, or it is not recorded, this
 * is a no-op.
 */
export function recordCompletedSpan(
  tracer: Tracer,
  { name, kind, startedAt, ms, attributes, failed }: CompletedSpan,
): void {
  if (!trace.getActiveSpan()?.isRecording()) return;
  const startTime = performance.timeOrigin + startedAt;
  const span = tracer.startSpan(name, { kind, startTime, attributes });
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(startTime + ms);
}
