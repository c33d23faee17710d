import type { CloudContext } from './cloud-context.js';

/** Returns a function that returns the state of a cloud. The state is created on first use, and only in memory. */
export function perCloud<T>(create: () => T): (cloud: CloudContext) => T {
  const states = new WeakMap<CloudContext, T>();
  return (cloud) => {
    const state = states.get(cloud) ?? create();
    states.set(cloud, state);
    return state;
  };
}
