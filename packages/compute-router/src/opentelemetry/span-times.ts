import { type Attributes, type SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';

/** A completed operation. Times are values of `performance.now()`, in milliseconds. */
export interface PastSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: number;
  readonly ms: number;
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

/** Adds a completed operation to the active span; a no-op if no span is active or recorded. */
export function recordPast(tracer: Tracer, { name, kind, startedAt, ms, attributes, failed }: PastSpan): void {
  if (!trace.getActiveSpan()?.isRecording()) return;
  const startTime = performance.timeOrigin + startedAt;
  const span = tracer.startSpan(name, { kind, startTime, attributes });
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(startTime + ms);
}
