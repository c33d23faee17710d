import { connectNics, nicId } from '../machine/connect-nics.js';
import { freeHotplugBus } from '../machine/hotplug-ports.js';
import { netdevId, nicBackend, nicDevice } from '../machine/machine-arguments.js';

import { ATTACHED, DETACHED, ignoreExpectedError, removeDevice } from '../machine/remove-device.js';
import type { Verbs } from './verb-request.js';

/** How long a guest may take to release a network interface. */
const RELEASE_TIMEOUT_MS = 10_000;

/** Attaches and detaches interfaces of running machines. Changes to a stopped machine take effect at its next start. */
export const interfaces: Verbs = {
  attach_interface: async ({ host, work, server }) => {
    const qmp = await host.machine(server).connectIfRunning();
    if (!qmp) return;
    const [nic] = await connectNics(host, server, [work.interface]);
    if (!nic) return;
    await qmp.execute('netdev_add', nicBackend(nic)).catch(ignoreExpectedError(ATTACHED));
    const device = { ...nicDevice(nic), ...(await freeHotplugBus(qmp)) };
    await qmp.execute('device_add', device).catch(ignoreExpectedError(ATTACHED));
  },
  detach_interface: async ({ host, work, server, signal }) => {
    const qmp = await host.machine(server).connectIfRunning();
    if (!qmp) return;
    const id = nicId(work.interface.portId);
    await removeDevice(qmp, id, Math.min(RELEASE_TIMEOUT_MS, host.parts.shutdownTimeoutMs), signal);
    // Removing the backend disconnects the interface, even if the guest has not released the device.
    await qmp.execute('netdev_del', { id: netdevId(id) }).catch(ignoreExpectedError(DETACHED));
  },
};
