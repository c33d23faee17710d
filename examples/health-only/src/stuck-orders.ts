import type { Check } from '@apistrata/healthcheck';

/** What the shop knows about its orders. */
export interface Orders {
  /** Orders nobody has packed yet. */
  waiting(): number;
  /** How long the oldest of them waits, in milliseconds; 0 where none waits. */
  oldestMs(): number;
}

const LATE_MS = 60_000;
const STUCK_MS = 600_000;

/** A check of our own: orders that wait are a matter for people, orders that wait for long are a broken service. */
export function stuckOrders(orders: Orders): Check {
  return {
    name: 'stuck_orders',
    check() {
      const oldestMs = orders.oldestMs();
      const details = `${orders.waiting()} orders wait, the oldest for ${oldestMs / 1000} s`;
      if (oldestMs > STUCK_MS) return { state: 'unavailable', reason: 'ORDERS STUCK', details };
      if (oldestMs > LATE_MS) return { state: 'degraded', reason: 'ORDERS LATE', details };
      return { state: 'available', details };
    },
  };
}
