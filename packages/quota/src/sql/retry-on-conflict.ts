/** The error codes of serialization failures and deadlocks, after which a transaction may be retried. */
const RETRY_CODES = new Set(['40001', '40P01', 'ER_LOCK_DEADLOCK']);
const MAX_ATTEMPTS = 5;

/** Runs a transaction, and retries it after a serialization failure or a deadlock. */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !RETRY_CODES.has(codeOf(error))) throw error;
    }
  }
}

/** Returns the `code` of a database driver's error. */
export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}
