import { z } from 'zod';
import type { Call } from '../service/call.js';
import { isAtLeast } from './placement-version.js';
import { anyUuid, atLeastOne } from './request-body.js';

/** A consumer's requested allocations, in the format of the newest microversion. */
export interface RequestedAllocations {
  readonly allocations: Readonly<Record<string, { readonly resources: Readonly<Record<string, number>> }>>;
  readonly project_id?: string | undefined;
  readonly user_id?: string | undefined;
  /** The generation that the client has read; null for a consumer that did not exist. */
  readonly consumer_generation?: number | null | undefined;
  readonly consumer_type?: string | undefined;
}

const classKey = z.string().regex(/^[A-Z0-9_]+$/);
const resources = atLeastOne(z.record(classKey, z.number().int().min(1)));
/** Placement accepts all keys that match this pattern, even if they are not UUIDs. */
export const uuidKey = z.string().regex(/^[0-9a-fA-F-]{36}$/);
const allocationsByProvider = z.record(uuidKey, z.strictObject({ resources, generation: z.number().int().optional() }));
/** The schema before microversion 1.12, in which `allocations` is a list of providers. */
const allocationList = z
  .array(z.strictObject({ resource_provider: z.strictObject({ uuid: anyUuid }), resources }))
  .min(1)
  .transform((all) => Object.fromEntries(all.map((one) => [one.resource_provider.uuid, { resources: one.resources }])));
const ownerId = z.string().min(1).max(255);
const ownerFields = { project_id: ownerId, user_id: ownerId };
const consumer_type = z
  .string()
  .regex(/^[A-Z0-9_]+$/)
  .min(1)
  .max(255);
const mappings = atLeastOne(z.record(z.string(), z.array(anyUuid).min(1))).optional();

/** Returns the schema of one consumer's allocations in the microversion of the request. */
function createConsumerSchema(call: Call, allocations: z.ZodType): z.ZodType<RequestedAllocations> {
  const body = z.strictObject({
    allocations,
    ...(isAtLeast(call, 8) && ownerFields),
    ...(isAtLeast(call, 28) && { consumer_generation: z.number().int().nullable() }),
    ...(isAtLeast(call, 34) && { mappings }),
    ...(isAtLeast(call, 38) && { consumer_type }),
  });
  return body as unknown as z.ZodType<RequestedAllocations>;
}

/** Returns the body schema of `PUT /allocations/{consumer}`. Since 1.28, a request may remove all allocations. */
export function consumerSchema(call: Call): z.ZodType<RequestedAllocations> {
  if (!isAtLeast(call, 12)) return createConsumerSchema(call, allocationList);
  return createConsumerSchema(call, isAtLeast(call, 28) ? allocationsByProvider : atLeastOne(allocationsByProvider));
}

/** Returns the schema of several consumers' allocations, by consumer id. */
export const consumersSchema = (call: Call) => z.record(uuidKey, createConsumerSchema(call, allocationsByProvider));
