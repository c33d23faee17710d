import type { Forwards } from '../forwards/forwards.js';
import type { MachineFolders, NetworkMode } from './network-mode.js';
import { hasUserNetwork, userNetwork } from './user-network.js';

/**
 * Returns the network mode `user`: QEMU emulates a network per interface, the first with the server's port forwards.
 */
export function userMode(forwards: Forwards, folders: MachineFolders): NetworkMode {
  return {
    async connect(server, interfaces, starting) {
      const first = starting ? interfaces.findIndex(hasUserNetwork) : -1;
      const published = first < 0 ? undefined : await forwards.assign(server, folders);
      return interfaces.map((one, index) => userNetwork(one, index === first ? published : undefined));
    },
    // QEMU does not count the traffic of emulated networks.
    counters: async () => [],
    release: (serverId) => forwards.release(serverId),
    // QEMU emulates networks without the kernel, so guests can always be connected.
    problem: async () => null,
    onChange: () => () => {},
    leave: async () => {},
  };
}
