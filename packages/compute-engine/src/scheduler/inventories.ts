import type { Inventory, Node } from '../model/index.js';

/** The largest amount of a resource class, unless an inventory has a lower one. */
export const MAX_AMOUNT = 2 ** 31 - 1;

/** A host has this trait while its service is disabled. */
export const DISABLED_TRAIT = 'COMPUTE_STATUS_DISABLED';

/** Creates an inventory with the defaults of omitted values. */
export function inventory({
  total,
  reserved = 0,
  minUnit = 1,
  maxUnit = MAX_AMOUNT,
  stepSize = 1,
  allocationRatio = 1,
}: { readonly total: number } & { readonly [K in keyof Inventory]?: Inventory[K] | undefined }): Inventory {
  return { total, reserved, minUnit, maxUnit, stepSize, allocationRatio };
}

/** The inventories of a host, computed once for each version of its record. */
interface Offer {
  readonly inventories: Readonly<Record<string, Inventory>>;
  readonly traits: ReadonlySet<string>;
}

const offers = new WeakMap<Node, Offer>();

function offerOf(node: Node): Offer {
  const cached = offers.get(node);
  if (cached) return cached;
  const own = (total: number, allocationRatio: number) => inventory({ total, maxUnit: total, allocationRatio });
  const all: Readonly<Record<string, Inventory | null>> = {
    VCPU: own(node.vcpus, node.cpuAllocationRatio),
    MEMORY_MB: own(node.memoryMb, node.ramAllocationRatio),
    DISK_GB: own(node.localGb, node.diskAllocationRatio),
    ...node.inventories,
  };
  const inventories = Object.fromEntries(Object.entries(all).flatMap(([name, one]) => (one ? [[name, one]] : [])));
  const offer = { inventories, traits: new Set(node.traits) };
  offers.set(node, offer);
  return offer;
}

/** Returns the inventories of a host by resource class. */
export function inventoriesOf(node: Node): Readonly<Record<string, Inventory>> {
  return offerOf(node).inventories;
}

/** Returns the traits of a host, except those of its service. */
export function traitsOf(node: Node): ReadonlySet<string> {
  return offerOf(node).traits;
}

/**
 * Returns the total amount of a resource class that servers can have on a host; at most `MAX_AMOUNT`, which databases
 * can count.
 */
export function capacityOf(node: Node, resourceClass: string): number {
  const one = inventoriesOf(node)[resourceClass];
  return one ? Math.min(Math.floor((one.total - one.reserved) * one.allocationRatio), MAX_AMOUNT) : 0;
}

/** Returns whether an empty host could provide an amount to one server. */
export function canProvide(node: Node, resourceClass: string, amount: number): boolean {
  const one = inventoriesOf(node)[resourceClass];
  if (!one) return false;
  const { minUnit, maxUnit, stepSize } = one;
  return amount >= minUnit && amount <= maxUnit && amount % stepSize === 0 && amount <= capacityOf(node, resourceClass);
}
