import type { Call } from '../service/call.js';
import { badRequest, conflict } from '../service/service-error.js';
import { type Consumer, findConsumer, storeConsumer, usedAmountsOf } from './allocations.js';
import { capacityOf, hasUnits } from './capacity.js';
import type { Inventory } from './inventory.js';
import { formatClasses, inUseError } from './inventory-routes.js';
import { classNames, unknownClassMessage } from './names.js';
import { listProviders, type Provider, provider, writeProvider } from './providers.js';

/** A request that replaces a consumer's allocations. A consumer without allocations is deleted. */
export interface Replacement {
  readonly requested: Consumer;
  /** The generation that the client has read; null if the consumer did not exist; undefined skips the check. */
  readonly seenGeneration: number | null | undefined;
}

type Inventories = Readonly<Record<string, Inventory>>;
type PreviousConsumers = ReadonlyMap<string, Consumer>;

/** Returns the current state of the consumers, by id. Throws a 409 error for an outdated generation. */
async function readConsumers(call: Call, replacements: readonly Replacement[]): Promise<PreviousConsumers> {
  const before = new Map<string, Consumer>();
  for (const { requested, seenGeneration } of replacements) {
    const existing = await findConsumer(call, requested.id);
    if (seenGeneration !== undefined && (existing?.generation ?? null) !== seenGeneration)
      throw conflict(
        `consumer generation conflict - expected ${existing?.generation ?? 'null'} but got ${seenGeneration ?? 'None'}`,
        'placement.concurrent_update',
      );
    if (existing) before.set(requested.id, existing);
  }
  return before;
}

async function rejectUnknownProvidersAndClasses(
  call: Call,
  replacements: readonly Replacement[],
  prefix: string,
): Promise<void> {
  const [all, classes] = [await listProviders(call), await classNames(call)];
  const allocations = replacements.flatMap(({ requested }) => Object.entries(requested.allocations));
  const missingProviderEntry = allocations.find(([uuid]) => !all.has(uuid));
  if (missingProviderEntry)
    throw badRequest(`Allocation for resource provider '${missingProviderEntry[0]}' that does not exist.`);
  const names = allocations.flatMap(([, resources]) => Object.keys(resources));
  const unknownClass = names.find((name) => !classes.has(name));
  if (unknownClass !== undefined) throw badRequest(prefix + unknownClassMessage(unknownClass));
}

const allocationError = (reason: string) => conflict(`Unable to allocate inventory: ${reason}`);

/** A provider during a replacement, with the amounts allocated so far. */
interface TargetProvider {
  /** The provider with its previous and new inventories. A new inventory replaces the previous one of its class. */
  readonly provider: Provider;
  readonly previous: Readonly<Record<string, number>>;
  readonly used: Record<string, number>;
}

/** Returns the affected providers, by id, without the allocations that are replaced. */
async function readTargets(
  call: Call,
  all: readonly Provider[],
  before: PreviousConsumers,
  inventories: ReadonlyMap<string, Inventories>,
): Promise<ReadonlyMap<string, TargetProvider>> {
  const targets = new Map<string, TargetProvider>();
  for (const one of all) {
    const previous = await usedAmountsOf(call, one);
    const used = { ...previous };
    for (const { allocations } of before.values())
      for (const [name, amount] of Object.entries(allocations[one.uuid] ?? {})) used[name] = (used[name] ?? 0) - amount;
    const provider = { ...one, inventories: { ...one.inventories, ...inventories.get(one.uuid) } };
    targets.set(one.uuid, { provider, previous, used });
  }
  return targets;
}

/** Adds an allocation to a provider. Throws a 409 error if the provider cannot satisfy it. */
function allocate({ provider, previous, used }: TargetProvider, name: string, amount: number): void {
  const inventory = provider.inventories[name];
  if (!inventory) throw allocationError(`Inventory for '${name}' on resource provider '${provider.uuid}' invalid.`);
  const reason = `Unable to create allocation for '${name}' on resource provider '${provider.uuid}'. The requested amount would`;
  if (!hasUnits(inventory, amount)) throw allocationError(`${reason} violate inventory constraints.`);
  const sum = (used[name] ?? 0) + amount;
  // If the allocated amount already exceeds the capacity, it must not increase.
  if (sum > capacityOf(provider, name) && sum > (previous[name] ?? 0))
    throw allocationError(`${reason} exceed the capacity.`);
  used[name] = sum;
}

/**
 * Throws a 409 error if providers cannot satisfy the new allocations, or would lose allocated inventories. As in
 * Placement, providers that have none of the requested classes are reported first, in one error with all these classes.
 */
function checkAllocations(
  targets: ReadonlyMap<string, TargetProvider>,
  replacements: readonly Replacement[],
  inventories: ReadonlyMap<string, Inventories>,
): void {
  const allocations = replacements.flatMap(({ requested }) =>
    Object.entries(requested.allocations).flatMap(([uuid, resources]) => {
      const target = targets.get(uuid);
      return target ? [{ target, resources }] : [];
    }),
  );
  const names = [...new Set(allocations.flatMap(({ resources }) => Object.keys(resources)))];
  const unsupportedAllocations = allocations.filter(
    ({ target }) => !names.some((name) => target.provider.inventories[name]),
  );
  if (unsupportedAllocations.length > 0) {
    const uuids = [...new Set(unsupportedAllocations.map(({ target }) => target.provider.uuid))].join(', ');
    throw allocationError(`Inventory for '${formatClasses(names)}' on resource provider '${uuids}' invalid.`);
  }
  for (const { target, resources } of allocations)
    for (const [name, amount] of Object.entries(resources)) allocate(target, name, amount);
  for (const [uuid, next] of inventories) {
    const used = targets.get(uuid)?.used ?? {};
    const removedClassesInUse = Object.keys(used).filter((name) => (used[name] ?? 0) > 0 && !next[name]);
    if (removedClassesInUse.length > 0) throw inUseError(uuid, removedClassesInUse);
  }
}

/**
 * Returns by how much a provider's generation increases. As in Placement, this is one for new allocations or for a
 * consumer that loses all allocations, plus one for each step of replacing inventories: removing the old ones and
 * adding new ones.
 */
function generationGrowthOf(
  uuid: string,
  before: PreviousConsumers,
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

const toChange = (inventories: Inventories | undefined) => (inventories ? { inventories } : {});

/**
 * Replaces consumers' allocations and providers' inventories. If one replacement fails, none is stored.
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
  await rejectUnknownProvidersAndClasses(call, replacements, prefix);
  const all = await listProviders(call);
  const consumers = [...before.values(), ...replacements.map(({ requested }) => requested)];
  const affectedIds = new Set([
    ...inventories.keys(),
    ...consumers.flatMap(({ allocations }) => Object.keys(allocations)),
  ]);
  const affectedProviders = [...all.values()].filter(({ uuid }) => affectedIds.has(uuid));
  checkAllocations(await readTargets(call, affectedProviders, before, inventories), replacements, inventories);
  for (const uuid of affectedIds) {
    const growth = generationGrowthOf(uuid, before, replacements, inventories.get(uuid));
    if (all.has(uuid) && growth > 0)
      await writeProvider(call, await provider(call, uuid), toChange(inventories.get(uuid)), growth);
  }
  for (const { requested } of replacements) storeConsumer(call, requested, before.get(requested.id));
}
