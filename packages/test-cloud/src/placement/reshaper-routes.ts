import { z } from 'zod';
import type { Call } from '../service/call.js';
import { noContent, post, type Route } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import { manyConsumers, uuidKey } from './allocation-bodies.js';
import { replacementOf } from './allocation-routes.js';
import { All, plainInventories, rejectUnknown } from './inventory-routes.js';
import { missingProvider, providers } from './providers.js';
import { replaceAllocations } from './replacement.js';
import { atLeastOne, bodyOf } from './request-body.js';

const MALFORMED = 'malformed reshaper data: ';

const reshapeBody = (call: Call) =>
  z.strictObject({ inventories: atLeastOne(z.record(uuidKey, All)), allocations: manyConsumers(call) });

async function reshape(call: Call) {
  const { inventories, allocations } = bodyOf(call, reshapeBody(call));
  const all = await providers(call);
  for (const [uuid, { resource_provider_generation, inventories: requested }] of Object.entries(inventories)) {
    const one = all.get(uuid);
    if (!one)
      throw badRequest(
        `Resource provider ${uuid} in inventories not found: ${missingProvider(uuid)}`,
        'placement.resource_provider.not_found',
      );
    if (one.generation !== resource_provider_generation)
      throw conflict(
        `resource provider generation conflict for provider ${uuid}: actual: ${one.generation}, given: ${resource_provider_generation}`,
        'placement.concurrent_update',
      );
    await rejectUnknown(call, Object.keys(requested), MALFORMED);
  }
  await replaceAllocations(
    call,
    Object.entries(allocations).map(replacementOf),
    MALFORMED,
    new Map(Object.entries(inventories).map(([uuid, one]) => [uuid, plainInventories(one.inventories)])),
  );
  return noContent();
}

/** The route that moves inventories, together with their allocations, between providers. */
export function reshaperRoutes(): readonly Route[] {
  return [post('/reshaper', reshape)];
}
