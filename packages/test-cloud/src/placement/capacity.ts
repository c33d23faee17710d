import type { Inventory } from './inventory.js';
import type { Provider } from './providers.js';

type InventoryHolder = Pick<Provider, 'inventories'>;

/** Returns a provider's capacity of a resource class; 0 without an inventory. */
export function capacityOf({ inventories }: InventoryHolder, name: string): number {
  const inventory = inventories[name];
  return inventory ? Math.floor((inventory.total - inventory.reserved) * inventory.allocation_ratio) : 0;
}

/** Returns whether an amount conforms to an inventory's `min_unit`, `max_unit` and `step_size`. */
export const hasUnits = ({ min_unit, max_unit, step_size }: Inventory, amount: number): boolean =>
  amount >= min_unit && amount <= max_unit && amount % step_size === 0;

/** Returns whether an amount of a resource class conforms to the provider's inventory and is available. */
export function fits(
  provider: InventoryHolder,
  used: Readonly<Record<string, number>>,
  name: string,
  amount: number,
): boolean {
  const inventory = provider.inventories[name];
  return (
    inventory !== undefined && hasUnits(inventory, amount) && amount <= capacityOf(provider, name) - (used[name] ?? 0)
  );
}
