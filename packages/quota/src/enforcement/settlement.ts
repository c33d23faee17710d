import { QuotaStoreError, ReservationEnded } from '../errors.js';
import type { Reservation } from '../reservation.js';

/**
 * Delays between attempts to commit. Their sum is longer than a restart of the store and shorter than a typical
 * time-to-live.
 */
const RETRY_DELAYS_MS = [50, 200, 1_000, 3_000, 10_000];

/** A commit that is retried until it succeeds or fails permanently. */
export interface PersistentCommit {
  /** Resolves after the first attempt, regardless of its result. Never rejects. */
  readonly attempted: Promise<void>;
  /** Resolves when an attempt has succeeded. Rejects if all attempts have failed or the reservation has expired. */
  readonly done: Promise<void>;
}

/**
 * Commits a reservation, with retries while the store is unavailable. If the result of an attempt was lost and the
 * reservation no longer exists, that attempt has committed it, because no other code settles it.
 */
export function commitPersistently(reservation: Reservation): PersistentCommit {
  const first = reservation.commit();
  return { attempted: first.catch(() => undefined), done: commitWithRetries(reservation, first) };
}

async function commitWithRetries(reservation: Reservation, first: Promise<void>): Promise<void> {
  let attempt = first;
  for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
    try {
      return await attempt;
    } catch (error) {
      if (attempt !== first && error instanceof ReservationEnded) return;
      if (!(error instanceof QuotaStoreError) || delayMs === undefined) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    attempt = reservation.commit();
  }
}

/**
 * Renews a reservation periodically while it is open, so that it does not expire while a slow handler runs. Failures
 * are ignored, because the commit or release that follows reports them.
 *
 * @returns a function that stops the renewals
 */
export function startRenewing(reservation: Reservation): () => void {
  const renew = () => {
    if (reservation.open) reservation.renew().catch(() => undefined);
  };
  const timer = setInterval(renew, Math.max(1, reservation.ttlMs / 3));
  timer.unref();
  return () => clearInterval(timer);
}
