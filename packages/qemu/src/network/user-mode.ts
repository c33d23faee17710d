import type { Forwards } from '../forwards/forwards.js';
import type { MachineFolders, NetworkMode } from './network-mode.js';
import { hasUserNetwork, userNetwork } from './user-network.js';

/** Networks that QEMU emulates, one for each guest; the first one has the forwards. */
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
    // QEMU emulates the network itself.
    problem: async () => null,
    onChange: () => () => {},
    leave: async () => {},
  };
}
