import type { Inventory, Node } from '../model/index.js';

/** The largest amount of a resource class, unless an inventory has a lower limit. */
export const MAX_AMOUNT = 2 ** 31 - 1;

/** The trait of hosts whose service is disabled. */
export const DISABLED_TRAIT = 'COMPUTE_STATUS_DISABLED';

/** Creates an inventory, with defaults for omitted values. */
export function createInventory({
  total,
  reserved = 0,
  minUnit = 1,
  maxUnit = MAX_AMOUNT,
  stepSize = 1,
  allocationRatio = 1,
}: { readonly total: number } & { readonly [K in keyof Inventory]?: Inventory[K] | undefined }): Inventory {
  return { total, reserved, minUnit, maxUnit, stepSize, allocationRatio };
}

/** The inventories and traits of a host, computed once for each version of its record. */
interface InventoriesAndTraits {
  readonly inventories: Readonly<Record<string, Inventory>>;
  readonly traits: ReadonlySet<string>;
}

const offerCache = new WeakMap<Node, InventoriesAndTraits>();

function getCachedOffer(node: Node): InventoriesAndTraits {
  const cached = offerCache.get(node);
  if (cached) return cached;
  const createColumnInventory = (total: number, allocationRatio: number) =>
    createInventory({ total, maxUnit: total, allocationRatio });
  const allInventories: Readonly<Record<string, Inventory | null>> = {
    VCPU: createColumnInventory(node.vcpus, node.cpuAllocationRatio),
    MEMORY_MB: createColumnInventory(node.memoryMb, node.ramAllocationRatio),
    DISK_GB: createColumnInventory(node.localGb, node.diskAllocationRatio),
    ...node.inventories,
  };
  const inventories = Object.fromEntries(
    Object.entries(allInventories).flatMap(([name, one]) => (one ? [[name, one]] : [])),
  );
  const offer = { inventories, traits: new Set(node.traits) };
  offerCache.set(node, offer);
  return offer;
}

/** Returns a host's inventories, by resource class. */
export function inventoriesOf(node: Node): Readonly<Record<string, Inventory>> {
  return getCachedOffer(node).inventories;
}

/** Returns the traits of a host, except the traits of its service. */
export function traitsOf(node: Node): ReadonlySet<string> {
  return getCachedOffer(node).traits;
}

/**
 * Returns the total amount of a resource class that servers can have on a host; at most `MAX_AMOUNT`, so that
 * databases can count it.
 */
export function capacityOf(node: Node, resourceClass: string): number {
  const inventory = inventoriesOf(node)[resourceClass];
  if (!inventory) return 0;
  return Math.min(Math.floor((inventory.total - inventory.reserved) * inventory.allocationRatio), MAX_AMOUNT);
}

/** Returns whether an otherwise empty host could allocate the given amount to one server. */
export function canProvide(node: Node, resourceClass: string, amount: number): boolean {
  const inventory = inventoriesOf(node)[resourceClass];
  if (!inventory) return false;
  const { minUnit, maxUnit, stepSize } = inventory;
  return amount >= minUnit && amount <= maxUnit && amount % stepSize === 0 && amount <= capacityOf(node, resourceClass);
}
