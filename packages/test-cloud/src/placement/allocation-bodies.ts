import { z } from 'zod';
import type { Call } from '../service/call.js';
import { since } from './placement-version.js';
import { anyUuid, atLeastOne } from './request-body.js';

/** The allocations of a consumer, in the format of the newest version. */
export interface RequestedAllocations {
  readonly allocations: Readonly<Record<string, { readonly resources: Readonly<Record<string, number>> }>>;
  readonly project_id?: string | undefined;
  readonly user_id?: string | undefined;
  /** The generation that the client has read; null if the consumer did not exist. */
  readonly consumer_generation?: number | null | undefined;
  readonly consumer_type?: string | undefined;
}

const classKey = z.string().regex(/^[A-Z0-9_]+$/);
const resources = atLeastOne(z.record(classKey, z.number().int().min(1)));
/** A pattern rather than a UUID, because the original accepts all keys that match this pattern. */
export const uuidKey = z.string().regex(/^[0-9a-fA-F-]{36}$/);
const byProvider = z.record(uuidKey, z.strictObject({ resources, generation: z.number().int().optional() }));
/** The schema before 1.12, in which providers are a list. */
const list = z
  .array(z.strictObject({ resource_provider: z.strictObject({ uuid: anyUuid }), resources }))
  .min(1)
  .transform((all) => Object.fromEntries(all.map((one) => [one.resource_provider.uuid, { resources: one.resources }])));
const ownerId = z.string().min(1).max(255);
const owner = { project_id: ownerId, user_id: ownerId };
const consumer_type = z
  .string()
  .regex(/^[A-Z0-9_]+$/)
  .min(1)
  .max(255);
const mappings = atLeastOne(z.record(z.string(), z.array(anyUuid).min(1))).optional();

/** Returns the schema of one consumer's allocations at the version of the request. */
function consumerBody(call: Call, allocations: z.ZodType): z.ZodType<RequestedAllocations> {
  const body = z.strictObject({
    allocations,
    ...(since(call, 8) && owner),
    ...(since(call, 28) && { consumer_generation: z.number().int().nullable() }),
    ...(since(call, 34) && { mappings }),
    ...(since(call, 38) && { consumer_type }),
  });
  return body as unknown as z.ZodType<RequestedAllocations>;
}

/** Returns the schema of the body of `PUT /allocations/{consumer}`. Since 1.28, it may remove all allocations. */
export function oneConsumer(call: Call): z.ZodType<RequestedAllocations> {
  if (!since(call, 12)) return consumerBody(call, list);
  return consumerBody(call, since(call, 28) ? byProvider : atLeastOne(byProvider));
}

/** Returns the schema of the allocations of several consumers, by consumer id. */
export const manyConsumers = (call: Call) => z.record(uuidKey, consumerBody(call, byProvider));
