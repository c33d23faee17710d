import { QuotaStoreError, ReservationGone } from './errors.js';
import type { Reservation } from './reservation.js';

/** Waits before another attempt; together they outlast the restart of a store and stay below a usual time-to-live. */
const RETRY_DELAYS_MS = [50, 200, 1_000, 3_000, 10_000];

/** A commit that goes on until it is done, or cannot be. */
export interface PersistentCommit {
  /** The first attempt is over, whatever came of it. Never rejects. */
  readonly attempted: Promise<void>;
  /** Rejects where all attempts failed, or the reservation is gone. */
  readonly done: Promise<void>;
}

/**
 * Commits although the store may be away for a moment. After an attempt of which the answer was lost, a reservation
 * that is gone counts as committed: nobody else settles it.
 */
export function commitPersistently(reservation: Reservation): PersistentCommit {
  const first = reservation.commit();
  return { attempted: first.catch(() => undefined), done: goOn(reservation, first) };
}

async function goOn(reservation: Reservation, first: Promise<void>): Promise<void> {
  let attempt = first;
  for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
    try {
      return await attempt;
    } catch (error) {
      if (attempt !== first && error instanceof ReservationGone) return;
      if (!(error instanceof QuotaStoreError) || delayMs === undefined) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    attempt = reservation.commit();
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
