// The facts of placement's requests and responses by version, from `reference/placement.json`.
import { operationsOf, readFacts } from './operation-facts.js';
import { fill, type Values } from './placement-fixture.js';
import { SAMPLES } from './placement-samples.js';
import type { FieldFact } from './resource-facts.js';

/**
 * The shape of a value: the version that introduces it, an object of shapes, or a list of items of one shape. The key
 * `*` stands for any keys; with `*?`, the object may also be empty.
 */
export type Shape = number | readonly [Shape] | { readonly [key: string]: Shape };

/** The response of an operation, from version `since` until the next phase. */
interface Phase {
  readonly since?: number;
  readonly status: number;
  /** The status of a request that creates the resource. */
  readonly created?: number;
  readonly body: Shape | null;
  readonly location?: true;
  /** The version that introduces the caching headers. */
  readonly cached?: number;
  /** Whether Last-Modified is missing if the resource was never changed. */
  readonly undated?: true;
}

interface BodyField extends FieldFact {
  readonly since?: number;
}

/** The request body in a range of versions, with fields by path. In a path, `*` stands for any key or item. */
export interface BodyFact {
  readonly since?: number;
  readonly until?: number;
  readonly type?: 'array';
  readonly fields: Readonly<Record<string, BodyField>>;
}

interface Form {
  readonly operation: string;
  readonly query: string;
  readonly since: number;
}

export const facts = readFacts('placement') as {
  readonly responses: Readonly<Record<string, readonly Phase[]>>;
  readonly bodies: Readonly<Record<string, readonly BodyFact[]>>;
  readonly parameters: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly forms: readonly Form[];
};

export const operations = new Map(operationsOf('placement').map((one) => [`${one.method} ${one.path}`, one]));
export const firstOf = (operation: string) => operations.get(operation)?.since ?? 0;

export const phaseAt = <P extends { readonly since?: number }>(phases: readonly P[], minor: number): P | undefined =>
  phases.findLast(({ since = 0 }) => since <= minor);

export function pathOf(operation: string, values: Values, template = SAMPLES[operation]?.path): string {
  const path = template ?? operation.split(' ')[1] ?? '';
  return String(fill(path, { ...values, uuid: values.provider ?? '', consumer_uuid: values.consumer ?? '' }));
}
