import { z } from 'zod';
import type { Call } from '../service/call.js';
import { noContent, post, type Route } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import { consumerFrom, Many } from './allocation-routes.js';
import { All, rejectUnknown } from './inventory-routes.js';
import { providers } from './providers.js';
import { replaceAllocations } from './replacement.js';
import { bodyOf } from './request-body.js';

const Reshape = z.strictObject({
  inventories: z
    .record(z.guid(), All)
    .refine((inventories) => Object.keys(inventories).length > 0, 'does not have enough properties'),
  allocations: Many,
});

async function reshape(call: Call) {
  const { inventories, allocations } = bodyOf(call, Reshape);
  const all = await providers(call);
  for (const [uuid, { resource_provider_generation, inventories: given }] of Object.entries(inventories)) {
    const one = all.get(uuid);
    if (!one)
      throw badRequest(
        `Resource provider ${uuid} in inventories not found: it does not exist.`,
        'placement.resource_provider.not_found',
      );
    if (one.generation !== resource_provider_generation)
      throw conflict(
        `resource provider generation conflict for provider ${uuid}: actual: ${one.generation}, given: ${resource_provider_generation}`,
        'placement.concurrent_update',
      );
    await rejectUnknown(call, Object.keys(given));
  }
  await replaceAllocations(
    call,
    Object.entries(allocations).map(([id, given]) => ({
      requested: consumerFrom(call, id, given),
      seen: given.consumer_generation,
    })),
    new Map(Object.entries(inventories).map(([uuid, one]) => [uuid, one.inventories])),
  );
  return noContent();
}

/** Moves inventories between providers together with their allocations. */
export function reshaperRoutes(): readonly Route[] {
  return [post('/reshaper', reshape)];
}
