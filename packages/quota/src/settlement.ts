import { QuotaStoreError, ReservationGone } from './errors.js';
import type { Reservation } from './reservation.js';

/** Waits before another attempt; together they outlast the restart of a store and stay below a usual time-to-live. */
const RETRY_DELAYS_MS = [50, 200, 1_000, 3_000, 10_000];

/**
 * Commits although the store may be away for a moment. After an attempt of which the answer was lost, a reservation
 * that is gone counts as committed: nobody else settles it.
 */
export async function commitPersistently(reservation: Reservation): Promise<void> {
  let uncertain = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await reservation.commit();
    } catch (error) {
      if (uncertain && error instanceof ReservationGone) return;
      const delayMs = RETRY_DELAYS_MS[attempt];
      if (!(error instanceof QuotaStoreError) || delayMs === undefined) throw error;
      uncertain = true;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

/**
 * Renews a reservation as long as it is open, so that it holds while a slow handler works. What fails here shows
 * when the reservation is settled.
 *
 * @returns a function that ends it
 */
export function keepAlive(reservation: Reservation): () => void {
  const renew = () => {
    if (reservation.open) reservation.renew().catch(() => undefined);
  };
  const timer = setInterval(renew, Math.max(1, reservation.ttlMs / 3));
  timer.unref();
  return () => clearInterval(timer);
}
