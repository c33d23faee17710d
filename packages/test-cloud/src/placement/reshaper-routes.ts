import { z } from 'zod';
import type { Call } from '../service/call.js';
import { noContent, post, type Route } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import { consumersSchema, uuidKey } from './allocation-bodies.js';
import { toReplacement } from './allocation-routes.js';
import { AllInventories, rejectUnknownClasses, withoutGenerations } from './inventory-routes.js';
import { listProviders, unknownProviderMessage } from './providers.js';
import { replaceAllocations } from './replacement.js';
import { atLeastOne, validateBody } from './request-body.js';

const MALFORMED_BODY_PREFIX = 'malformed reshaper data: ';

const reshapeBody = (call: Call) =>
  z.strictObject({ inventories: atLeastOne(z.record(uuidKey, AllInventories)), allocations: consumersSchema(call) });

async function reshape(call: Call) {
  const { inventories, allocations } = validateBody(call, reshapeBody(call));
  const all = await listProviders(call);
  for (const [uuid, { resource_provider_generation, inventories: requested }] of Object.entries(inventories)) {
    const one = all.get(uuid);
    if (!one)
      throw badRequest(
        `Resource provider ${uuid} in inventories not found: ${unknownProviderMessage(uuid)}`,
        'placement.resource_provider.not_found',
      );
    if (one.generation !== resource_provider_generation)
      throw conflict(
        `resource provider generation conflict for provider ${uuid}: actual: ${one.generation}, given: ${resource_provider_generation}`,
        'placement.concurrent_update',
      );
    await rejectUnknownClasses(call, Object.keys(requested), MALFORMED_BODY_PREFIX);
  }
  await replaceAllocations(
    call,
    Object.entries(allocations).map(toReplacement),
    MALFORMED_BODY_PREFIX,
    new Map(Object.entries(inventories).map(([uuid, one]) => [uuid, withoutGenerations(one.inventories)])),
  );
  return noContent();
}

/** The route that moves inventories, together with their allocations, between providers. */
export function reshaperRoutes(): readonly Route[] {
  return [post('/reshaper', reshape)];
}
