import type { Check } from '@apistrata/healthcheck';

/** The orders of the shop. */
export interface OrderTable {
  /** Returns the number of orders that are not packed yet. */
  waiting(): number;
  /** Returns the waiting time of the oldest order, in milliseconds; 0 if none waits. */
  oldestMs(): number;
}

const OVERDUE_MS = 60_000;
const STUCK_MS = 600_000;

/** Creates a check: overdue orders degrade the service, and stuck orders make it unavailable. */
export function stuckOrders(orders: OrderTable): Check {
  return {
    name: 'stuck_orders',
    check() {
      const oldestMs = orders.oldestMs();
      const details = `${orders.waiting()} orders wait, the oldest for ${oldestMs / 1000} s`;
      if (oldestMs > STUCK_MS) return { state: 'unavailable', reason: 'ORDERS STUCK', details };
      if (oldestMs > OVERDUE_MS) return { state: 'degraded', reason: 'ORDERS LATE', details };
      return { state: 'available', details };
    },
  };
}
