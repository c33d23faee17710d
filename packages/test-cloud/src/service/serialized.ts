import type { CloudContext } from './cloud-context.js';

const lines = new WeakMap<CloudContext, Map<string, Promise<unknown>>>();

/** Runs changes of the same object sequentially, so that checks stay valid until the change is complete. */
export async function serialized<T>(cloud: CloudContext, id: string, work: () => Promise<T>): Promise<T> {
  let line = lines.get(cloud);
  if (!line) {
    line = new Map();
    lines.set(cloud, line);
  }
  const before = line.get(id) ?? Promise.resolve();
  const result = before.then(work, work);
  line.set(id, result);
  try {
    return await result;
  } finally {
    if (line.get(id) === result) line.delete(id);
  }
}
