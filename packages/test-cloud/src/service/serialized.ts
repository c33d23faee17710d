import type { CloudContext } from './cloud-context.js';

const queues = new WeakMap<CloudContext, Map<string, Promise<unknown>>>();

/**
 * Runs changes one after another if they share a key, so that a change's checks stay valid until it is complete. A
 * change waits only for changes that were requested earlier, so no two changes wait for each other.
 */
export async function runSerially<T>(
  cloud: CloudContext,
  keys: readonly string[],
  work: () => T | Promise<T>,
): Promise<T> {
  let queue = queues.get(cloud);
  if (!queue) {
    queue = new Map();
    queues.set(cloud, queue);
  }
  const earlierChanges = keys.map((key) => queue.get(key));
  const currentChange = Promise.allSettled(earlierChanges).then(work);
  for (const key of keys) queue.set(key, currentChange);
  try {
    return await currentChange;
  } finally {
    for (const key of keys) if (queue.get(key) === currentChange) queue.delete(key);
  }
}
