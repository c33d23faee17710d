import type { CloudContext } from './cloud-context.js';

/** Returns a function that returns a cloud's state. The state exists only in memory, and is created on first use. */
export function perCloud<T>(create: () => T): (cloud: CloudContext) => T {
  const states = new WeakMap<CloudContext, T>();
  return (cloud) => {
    const state = states.get(cloud) ?? create();
    states.set(cloud, state);
    return state;
  };
}
