import type { Check } from '@apistrata/healthcheck';

/** The queries that the health check runs on the shop's orders. */
export interface OrderTable {
  /** Returns the number of orders that are not packed yet. */
  waiting(): number;
  /** Returns how long the oldest order has waited, in milliseconds; 0 if no order waits. */
  oldestMs(): number;
}

const OVERDUE_AFTER_MS = 60_000;
const STUCK_AFTER_MS = 600_000;

/** Creates a health check that reports `degraded` for overdue orders, and `unavailable` for stuck orders. */
export function stuckOrdersCheck(orders: OrderTable): Check {
  return {
    name: 'stuck_orders',
    check() {
      const oldestMs = orders.oldestMs();
      const details = `${orders.waiting()} orders are waiting, the oldest for ${oldestMs / 1000} s`;
      if (oldestMs > STUCK_AFTER_MS) return { state: 'unavailable', reason: 'ORDERS STUCK', details };
      if (oldestMs > OVERDUE_AFTER_MS) return { state: 'degraded', reason: 'ORDERS LATE', details };
      return { state: 'available', details };
    },
  };
}
