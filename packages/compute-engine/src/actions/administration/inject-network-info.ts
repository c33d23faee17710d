import { concurrentAction } from '../runner/action.js';

/** Updates the network configuration inside the guest. */
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
