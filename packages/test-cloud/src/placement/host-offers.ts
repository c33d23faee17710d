import {
  DISABLED_TRAIT,
  type Host,
  type Inventory as HostInventory,
  inventoriesOf,
} from '@apistrata/compute-engine/api';
import type { Call } from '../service/call.js';
import type { Inventory } from './inventory.js';

/** A compute host's inventories and traits in the scheduler, in Placement's format. */
export interface HostProvider {
  readonly uuid: string;
  readonly host: string;
  readonly name: string;
  readonly inventories: Readonly<Record<string, Inventory>>;
  readonly traits: readonly string[];
  /** The ids of the compute service's aggregates to which the host belongs. */
  readonly aggregates: readonly string[];
}

const mapValues = <A, B>(values: Readonly<Record<string, A>>, map: (value: A) => B): Readonly<Record<string, B>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));

function toInventory({ total, reserved, minUnit, maxUnit, stepSize, allocationRatio }: HostInventory): Inventory {
  return {
    total,
    reserved,
    min_unit: minUnit,
    max_unit: maxUnit,
    step_size: stepSize,
    allocation_ratio: allocationRatio,
  };
}

function toHostInventory({
  total,
  reserved,
  min_unit,
  max_unit,
  step_size,
  allocation_ratio,
}: Inventory): HostInventory {
  return {
    total,
    reserved,
    minUnit: min_unit,
    maxUnit: max_unit,
    stepSize: step_size,
    allocationRatio: allocation_ratio,
  };
}

function toHostProvider({ name, node, service, aggregates }: Host): HostProvider {
  return {
    uuid: node.id,
    host: name,
    name: node.hypervisorHostname,
    inventories: mapValues(inventoriesOf(node), toInventory),
    traits: [...new Set([...node.traits, ...(service.disabled ? [DISABLED_TRAIT] : [])])],
    aggregates: aggregates.map(({ id }) => id),
  };
}

const providerCache = new WeakMap<Host, HostProvider>();

/** Returns all compute hosts as resource providers. Each provider is cached until its host changes. */
export async function hostProviders(call: Call): Promise<readonly HostProvider[]> {
  const { hosts } = await call.cloud.engine.hosts.map();
  return [...hosts.values()].map((host) => {
    const cached = providerCache.get(host) ?? toHostProvider(host);
    providerCache.set(host, cached);
    return cached;
  });
}

/** Changes a host's inventories or traits in the scheduler. The trait for a disabled service is derived, not stored. */
export async function changeHostProvider(
  call: Call,
  host: string,
  { inventories, traits }: Partial<Pick<HostProvider, 'inventories' | 'traits'>>,
): Promise<void> {
  const isDisabled = (await call.cloud.engine.hosts.map()).hosts.get(host)?.service.disabled;
  await call.cloud.engine.hosts.setOffer(host, {
    ...(inventories && { inventories: mapValues(inventories, toHostInventory) }),
    ...(traits && { traits: isDisabled ? traits.filter((name) => name !== DISABLED_TRAIT) : traits }),
  });
}
