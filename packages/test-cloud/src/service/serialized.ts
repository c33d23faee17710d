import type { CloudContext } from './cloud-context.js';
import { perCloud } from './per-cloud.js';

/** The latest change that was requested, by key. */
const latestChanges = perCloud(() => new Map<string, Promise<unknown>>());

/**
 * Runs changes one after another if they share a key, so that a change's checks stay valid until it is complete. A
 * change waits only for changes that were requested earlier, so no two changes wait for each other.
 */
export async function runSerially<T>(
  cloud: CloudContext,
  keys: readonly string[],
  work: () => T | Promise<T>,
): Promise<T> {
  const changes = latestChanges(cloud);
  const earlierChanges = keys.map((key) => changes.get(key));
  const currentChange = Promise.allSettled(earlierChanges).then(work);
  for (const key of keys) changes.set(key, currentChange);
  try {
    return await currentChange;
  } finally {
    for (const key of keys) if (changes.get(key) === currentChange) changes.delete(key);
  }
}
