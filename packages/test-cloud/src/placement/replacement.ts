import type { Call } from '../service/call.js';
import { badRequest, conflict } from '../service/service-error.js';
import { type Consumer, consumer, store, usedOf } from './allocations.js';
import { capacityOf, hasUnits } from './capacity.js';
import type { Inventory } from './inventory.js';
import { inventoryInUse } from './inventory-routes.js';
import { classNames, missingClass } from './names.js';
import { type Provider, provider, providers, write } from './providers.js';

/** The new allocations of a consumer. A consumer without allocations is deleted. */
export interface Replacement {
  readonly requested: Consumer;
  /** The generation that the client has read; null if the consumer did not exist; undefined if it is not checked. */
  readonly seen: number | null | undefined;
}

type Inventories = Readonly<Record<string, Inventory>>;
type Before = ReadonlyMap<string, Consumer>;

/** Returns the current consumers. Throws a 409 error for an outdated generation. */
async function readConsumers(call: Call, replacements: readonly Replacement[]): Promise<Before> {
  const before = new Map<string, Consumer>();
  for (const { requested, seen } of replacements) {
    const existing = await consumer(call, requested.id);
    if (seen !== undefined && (existing?.generation ?? null) !== seen)
      throw conflict(
        `consumer generation conflict - expected ${existing?.generation ?? 'null'} but got ${seen ?? 'None'}`,
        'placement.concurrent_update',
      );
    if (existing) before.set(requested.id, existing);
  }
  return before;
}

async function rejectUnknown(call: Call, replacements: readonly Replacement[], prefix: string): Promise<void> {
  const [all, classes] = [await providers(call), await classNames(call)];
  const allocations = replacements.flatMap(({ requested }) => Object.entries(requested.allocations));
  const missing = allocations.find(([uuid]) => !all.has(uuid));
  if (missing) throw badRequest(`Allocation for resource provider '${missing[0]}' that does not exist.`);
  const names = allocations.flatMap(([, resources]) => Object.keys(resources));
  const unknown = names.find((name) => !classes.has(name));
  if (unknown !== undefined) throw badRequest(prefix + missingClass(unknown));
}

/** Throws a 409 error if a provider cannot satisfy the new allocations, or would lose an inventory that is allocated. */
async function checkProvider(
  call: Call,
  one: Provider,
  before: Before,
  replacements: readonly Replacement[],
  inventories: Inventories | undefined,
): Promise<void> {
  const next = { ...one, inventories: inventories ?? one.inventories };
  const previous = await usedOf(call, one);
  const used = { ...previous };
  const reject = (reason: string) => conflict(`Unable to allocate inventory: ${reason}`);
  for (const { allocations } of before.values())
    for (const [name, amount] of Object.entries(allocations[one.uuid] ?? {})) used[name] = (used[name] ?? 0) - amount;
  for (const { requested } of replacements)
    for (const [name, amount] of Object.entries(requested.allocations[one.uuid] ?? {})) {
      const inventory = next.inventories[name];
      if (!inventory) throw reject(`Inventory for '${name}' on resource provider '${one.uuid}' invalid.`);
      const rejected = `Unable to create allocation for '${name}' on resource provider '${one.uuid}'. The requested amount would`;
      if (!hasUnits(inventory, amount)) throw reject(`${rejected} violate inventory constraints.`);
      const sum = (used[name] ?? 0) + amount;
      // An inventory that is already exceeded may be used as much as before.
      if (sum > capacityOf(next, name) && sum > (previous[name] ?? 0)) throw reject(`${rejected} exceed the capacity.`);
      used[name] = sum;
    }
  const inUse = Object.keys(one.inventories).filter((name) => (used[name] ?? 0) > 0 && !next.inventories[name]);
  if (inUse.length > 0) throw inventoryInUse(one.uuid, inUse);
}

/**
 * Returns by how much a provider's generation increases, as in the original: one for new allocations, or for those of a consumer
 * that loses all its allocations, and one for each of the steps in which inventories are replaced.
 */
function growthOf(
  uuid: string,
  before: Before,
  replacements: readonly Replacement[],
  inventories: Inventories | undefined,
): number {
  const isAllocated = replacements.some(({ requested: { id, allocations } }) => {
    const isEmpty = Object.keys(allocations).length === 0;
    return (isEmpty ? before.get(id)?.allocations : allocations)?.[uuid] !== undefined;
  });
  const steps = inventories === undefined ? 0 : Object.keys(inventories).length > 0 ? 2 : 1;
  return steps + (isAllocated ? 1 : 0);
}

const changeOf = (inventories: Inventories | undefined) => (inventories ? { inventories } : {});

/**
 * Replaces the allocations of consumers and the inventories of providers, either all or none.
 * @param prefix the start of the message for an unknown resource class
 * @throws ServiceError 409 if a generation is outdated or a capacity is insufficient
 */
export async function replaceAllocations(
  call: Call,
  replacements: readonly Replacement[],
  prefix: string,
  inventories: ReadonlyMap<string, Inventories> = new Map(),
): Promise<void> {
  const before = await readConsumers(call, replacements);
  await rejectUnknown(call, replacements, prefix);
  const all = await providers(call);
  const consumers = [...before.values(), ...replacements.map(({ requested }) => requested)];
  const affected = new Set([
    ...inventories.keys(),
    ...consumers.flatMap(({ allocations }) => Object.keys(allocations)),
  ]);
  for (const uuid of affected) {
    const one = all.get(uuid);
    if (one) await checkProvider(call, one, before, replacements, inventories.get(uuid));
  }
  for (const uuid of affected) {
    const growth = growthOf(uuid, before, replacements, inventories.get(uuid));
    if (all.has(uuid) && growth > 0)
      await write(call, await provider(call, uuid), changeOf(inventories.get(uuid)), growth);
  }
  for (const { requested } of replacements) store(call, requested, before.get(requested.id));
}
