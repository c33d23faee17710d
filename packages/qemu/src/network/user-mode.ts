import type { Forwards } from '../forwards/forwards.js';
import type { MachineFolders, NetworkMode } from './network-mode.js';
import { createUserNetwork, hasUserNetwork } from './user-network.js';

/**
 * Returns the network mode `user`: QEMU emulates a separate network for each interface. The server's ports are
 * forwarded to the first interface that has a network.
 */
export function createUserMode(forwards: Forwards, folders: MachineFolders): NetworkMode {
  return {
    async connect(server, interfaces, starting) {
      const firstIndex = starting ? interfaces.findIndex(hasUserNetwork) : -1;
      const serverForwards = firstIndex < 0 ? undefined : await forwards.assign(server, folders);
      return interfaces.map((networkInterface, index) =>
        createUserNetwork(networkInterface, index === firstIndex ? serverForwards : undefined),
      );
    },
    // QEMU does not count the traffic of emulated networks.
    counters: async () => [],
    release: (serverId) => forwards.release(serverId),
    // QEMU emulates networks without the kernel, so guests can always be connected.
    problem: async () => null,
    onChange: () => () => {},
    close: async () => {},
  };
}
