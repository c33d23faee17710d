import type { CloudContext } from './cloud-context.js';

const queues = new WeakMap<CloudContext, Map<string, Promise<unknown>>>();

/** Runs changes to the same object one after the other, so that a change's checks stay valid until it is complete. */
export async function runSerially<T>(cloud: CloudContext, id: string, work: () => Promise<T>): Promise<T> {
  let queue = queues.get(cloud);
  if (!queue) {
    queue = new Map();
    queues.set(cloud, queue);
  }
  const previousChange = queue.get(id) ?? Promise.resolve();
  const currentChange = previousChange.then(work, work);
  queue.set(id, currentChange);
  try {
    return await currentChange;
  } finally {
    if (queue.get(id) === currentChange) queue.delete(id);
  }
}
