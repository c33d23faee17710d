import { z } from 'zod';
import type { Call } from '../service/call.js';
import { created, del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { consumersOf, usagesOf } from './allocations.js';
import { classNames } from './name-routes.js';
import { type Inventory, MOST, type Provider, provider, write } from './providers.js';

const count = z.number().int();
const INVENTORY = {
  total: count.min(1).max(MOST),
  reserved: count.min(0).max(MOST).default(0),
  min_unit: count.min(1).max(MOST).default(1),
  max_unit: count.min(1).max(MOST).default(MOST),
  step_size: count.min(1).max(MOST).default(1),
  allocation_ratio: z.number().gt(0).default(1),
};
const generation = { resource_provider_generation: count };
const One = z.strictObject({ ...INVENTORY, ...generation });
const New = z.strictObject({
  ...INVENTORY,
  resource_provider_generation: count.optional(),
  resource_class: z.string(),
});
const All = z.strictObject({ ...generation, inventories: z.record(z.string(), z.strictObject(INVENTORY)) });

const view = ({ generation: resource_provider_generation, inventories }: Provider) => ({
  resource_provider_generation,
  inventories,
});

function refuseUnknown(call: Call, names: readonly string[]): void {
  const known = classNames(call);
  const stray = names.find((name) => !known.includes(name));
  if (stray) throw badRequest(`Unknown resource class in inventory: No such resource class ${stray}.`);
}

/** What somebody has of cannot go, and cannot become less than that. */
async function refuseInUse(call: Call, one: Provider, next: Readonly<Record<string, Inventory>>): Promise<void> {
  const used = usagesOf(await consumersOf(call, one), one.uuid);
  const taken = Object.keys(one.inventories).find((name) => (used[name] ?? 0) > 0 && !next[name]);
  if (taken)
    throw conflict(
      `update conflict: Inventory for '${taken}' on resource provider '${one.uuid}' in use.`,
      'placement.inventory.inuse',
    );
}

/** What providers have, by class. */
export function inventoryRoutes(): readonly Route[] {
  const path = '/resource_providers/:id/inventories';
  const missing = (call: Call) => notFound(`No inventory of class ${call.param('class')} for ${call.param('id')}`);
  const one = ({ inventories, generation: seen }: Provider, name: string) => ({
    ...inventories[name],
    resource_provider_generation: seen,
  });
  return [
    get(path, async (call) => view(await provider(call))),
    put(path, async (call) => {
      const before = await provider(call);
      const { inventories, resource_provider_generation } = call.body(All);
      refuseUnknown(call, Object.keys(inventories));
      await refuseInUse(call, before, inventories);
      return view(write(call, before, { inventories }, resource_provider_generation));
    }),
    post(path, async (call) => {
      const before = await provider(call);
      const { resource_class, resource_provider_generation, ...inventory } = call.body(New);
      refuseUnknown(call, [resource_class]);
      if (before.inventories[resource_class])
        throw conflict(`Update conflict: inventory of ${resource_class} exists already.`);
      const inventories = { ...before.inventories, [resource_class]: inventory };
      return created(one(write(call, before, { inventories }, resource_provider_generation), resource_class));
    }),
    del(path, async (call) => {
      const before = await provider(call);
      await refuseInUse(call, before, {});
      write(call, before, { inventories: {} });
      return noContent();
    }),
    get(`${path}/:class`, async (call) => {
      const from = await provider(call);
      if (!from.inventories[call.param('class')]) throw missing(call);
      return one(from, call.param('class'));
    }),
    put(`${path}/:class`, async (call) => {
      const before = await provider(call);
      const name = call.param('class');
      const { resource_provider_generation, ...inventory } = call.body(One);
      if (!before.inventories[name])
        throw badRequest(`Unknown resource class in inventory for resource provider ${before.uuid}: ${name}`);
      const inventories = { ...before.inventories, [name]: inventory };
      return one(write(call, before, { inventories }, resource_provider_generation), name);
    }),
    del(`${path}/:class`, async (call) => {
      const before = await provider(call);
      const { [call.param('class')]: gone, ...inventories } = before.inventories;
      if (!gone) throw missing(call);
      await refuseInUse(call, before, inventories);
      write(call, before, { inventories });
      return noContent();
    }),
  ];
}
