import { MAX_AMOUNT } from '@apistrata/compute-engine/api';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, conflict, notFound, type ServiceError } from '../service/service-error.js';
import { usedAmountsOf } from './allocations.js';
import type { Inventory } from './inventory.js';
import { classNames, unknownClassMessage } from './names.js';
import { isAtLeast } from './placement-version.js';
import { type Provider, provider, providerInPath, rejectConflict, writeProvider } from './providers.js';
import { validateBody } from './request-body.js';

const count = z.number().int();
/** The highest single-precision number, because Placement stores ratios in single precision. */
const HIGHEST_RATIO = 3.40282e38;
const INVENTORY = {
  total: count.min(1).max(MAX_AMOUNT),
  reserved: count.min(0).max(MAX_AMOUNT).default(0),
  min_unit: count.min(1).max(MAX_AMOUNT).default(1),
  max_unit: count.min(1).max(MAX_AMOUNT).default(MAX_AMOUNT),
  step_size: count.min(1).max(MAX_AMOUNT).default(1),
  allocation_ratio: z.number().max(HIGHEST_RATIO).default(1),
};
const generation = { resource_provider_generation: count };
const SingleInventory = z.strictObject({ ...INVENTORY, ...generation });
/** In a request with several inventories, Placement accepts and ignores a provider generation in each of them. */
const InventoryItem = z.strictObject({ ...INVENTORY, resource_provider_generation: count.optional() });
const NewInventory = InventoryItem.extend({ resource_class: z.string().regex(/^[A-Z0-9_]+$/) });
export const AllInventories = z.strictObject({ ...generation, inventories: z.record(z.string(), InventoryItem) });

const withoutGeneration = ({
  resource_provider_generation: _,
  ...inventory
}: z.infer<typeof InventoryItem>): Inventory => inventory;

/** Returns requested inventories without their ignored provider generations. */
export const withoutGenerations = (
  all: z.infer<typeof AllInventories>['inventories'],
): Readonly<Record<string, Inventory>> =>
  Object.fromEntries(Object.entries(all).map(([name, inventoryView]) => [name, withoutGeneration(inventoryView)]));

const inventoriesView = ({ generation: resource_provider_generation, inventories }: Provider) => ({
  resource_provider_generation,
  inventories,
});

/** Throws a 400 error for an unknown resource class. @param messagePrefix the start of the error message */
export async function rejectUnknownClasses(call: Call, names: readonly string[], messagePrefix: string): Promise<void> {
  const classes = await classNames(call);
  const unknownClass = names.find((name) => !classes.has(name));
  if (unknownClass !== undefined) throw badRequest(messagePrefix + unknownClassMessage(unknownClass));
}

/** Returns the resource class in the path. Throws a 404 error if it is unknown. */
async function requireClassInPath(call: Call, messagePrefix = ''): Promise<string> {
  const name = call.param('class');
  if (!(await classNames(call)).has(name)) throw notFound(messagePrefix + unknownClassMessage(name));
  return name;
}

/** Throws a 400 error for inventories without capacity. Since 1.26, an entire inventory may be reserved. */
function rejectWithoutCapacity(
  call: Call,
  uuid: string,
  inventories: Readonly<Record<string, Inventory>>,
  verb: 'create' | 'update' = 'update',
): void {
  for (const [name, { total, reserved, allocation_ratio }] of Object.entries(inventories)) {
    const capacity = Math.trunc((total - reserved) * allocation_ratio);
    if (capacity > 0 || (capacity === 0 && isAtLeast(call, 26))) continue;
    const limitPhrase = isAtLeast(call, 26) ? 'greater than total' : 'greater than or equal to total';
    throw badRequest(
      `Unable to ${verb} inventory for resource provider ${uuid}: Invalid inventory for '${name}' on resource provider '${uuid}'. The reserved value is ${limitPhrase}.`,
    );
  }
}

/** The standard resource classes that messages name first, in this order. */
const FIRST_CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB'];

/** Formats resource classes for messages: first the classes in `FIRST_CLASSES`, then the others. */
export function formatClasses(names: readonly string[]): string {
  const classRank = (name: string) =>
    FIRST_CLASSES.includes(name) ? FIRST_CLASSES.indexOf(name) : FIRST_CLASSES.length;
  return [...names].sort((a, b) => classRank(a) - classRank(b)).join(', ');
}

/** Creates the 409 error for inventories that are in use. Its message lists the classes in their standard order. */
export function inUseError(
  uuid: string,
  names: readonly string[],
  messagePrefix = 'update conflict: ',
  type = 'placement.inventory.inuse',
): ServiceError {
  return conflict(
    `${messagePrefix}Inventory for '${formatClasses(names)}' on resource provider '${uuid}' in use.`,
    type,
  );
}

/** Throws a 409 error if the inventories of the resource classes are in use. */
async function rejectInUse(
  call: Call,
  inventoryView: Provider,
  next: Readonly<Record<string, Inventory>>,
  ...details: readonly [messagePrefix?: string, type?: string]
): Promise<void> {
  const used = await usedAmountsOf(call, inventoryView);
  const removedClassesInUse = Object.keys(inventoryView.inventories).filter(
    (name) => (used[name] ?? 0) > 0 && !next[name],
  );
  if (removedClassesInUse.length > 0) throw inUseError(inventoryView.uuid, removedClassesInUse, ...details);
}

/** The routes for providers' inventories, by resource class. */
export function inventoryRoutes(): readonly Route[] {
  const path = '/resource_providers/:id/inventories';
  const missing = (call: Call) => notFound(`No inventory of class ${call.param('class')} for ${call.param('id')}`);
  const inventoryView = ({ inventories, generation: currentGeneration }: Provider, name: string) => ({
    ...inventories[name],
    resource_provider_generation: currentGeneration,
  });
  return [
    get(path, async (call) => inventoriesView(await providerInPath(call, ' : '))),
    put(path, async (call) => {
      const before = await provider(call);
      const body = validateBody(call, AllInventories);
      rejectConflict(before, body.resource_provider_generation);
      const inventories = withoutGenerations(body.inventories);
      rejectWithoutCapacity(call, before.uuid, inventories);
      const messagePrefix = `Unknown resource class in inventory for resource provider ${before.uuid}: `;
      await rejectUnknownClasses(call, Object.keys(inventories), messagePrefix);
      await rejectInUse(call, before, inventories);
      return inventoriesView(await writeProvider(call, before, { inventories }));
    }),
    post(path, async (call) => {
      const before = await provider(call);
      const { resource_class, ...body } = validateBody(call, NewInventory);
      const inventory = withoutGeneration(body);
      rejectWithoutCapacity(call, before.uuid, { [resource_class]: inventory }, 'create');
      await rejectUnknownClasses(
        call,
        [resource_class],
        `Unable to create inventory for resource provider ${before.uuid}: `,
      );
      if (before.inventories[resource_class])
        throw conflict(
          `Update conflict: inventory of ${resource_class} exists already.`,
          'placement.concurrent_update',
        );
      const inventories = { ...before.inventories, [resource_class]: inventory };
      const shown = inventoryView(await writeProvider(call, before, { inventories }), resource_class);
      return new Reply(201, shown, {
        Location: `${call.base}/resource_providers/${before.uuid}/inventories/${resource_class}`,
      });
    }),
    del(path, async (call) => {
      const before = await provider(call);
      await rejectInUse(call, before, {}, '');
      await writeProvider(call, before, { inventories: {} });
      return noContent();
    }),
    get(`${path}/:class`, async (call) => {
      const from = await providerInPath(call, ' : ');
      if (!from.inventories[call.param('class')]) throw missing(call);
      return inventoryView(from, call.param('class'));
    }),
    put(`${path}/:class`, async (call) => {
      const before = await provider(call);
      const body = validateBody(call, SingleInventory);
      rejectConflict(before, body.resource_provider_generation);
      const inventory = withoutGeneration(body);
      rejectWithoutCapacity(call, before.uuid, { [call.param('class')]: inventory });
      const name = await requireClassInPath(call);
      if (!before.inventories[name])
        throw badRequest(
          `No inventory record with resource class for resource provider ${before.uuid}: No inventory of class ${name} found.`,
        );
      const inventories = { ...before.inventories, [name]: inventory };
      return inventoryView(await writeProvider(call, before, { inventories }), name);
    }),
    del(`${path}/:class`, async (call) => {
      const before = await provider(call);
      const missing = `No inventory of class ${call.param('class')} found for delete`;
      const name = await requireClassInPath(call, `${missing}: `);
      const { [name]: removed, ...inventories } = before.inventories;
      if (!removed) throw notFound(`${missing}: ${missing}`);
      const messagePrefix = `Unable to delete inventory of class ${name}: `;
      await rejectInUse(call, before, inventories, messagePrefix, 'placement.concurrent_update');
      await writeProvider(call, before, { inventories });
      return noContent();
    }),
  ];
}
