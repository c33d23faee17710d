import { concurrentAction } from '../runner/action.js';

/** Writes into the guest how its network is set up. */
export const injectNetworkInfo = concurrentAction({
  name: 'injectNetworkInfo',
  lock: true,
  history: undefined,
  notifies: null,
  run: async (run) => {
    await run.perform({ verb: 'inject_network_info' }, undefined, 'compute_inject_network_info');
    await run.finish({});
  },
});
