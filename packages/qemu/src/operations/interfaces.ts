import { connectNics, nicId } from '../machine/connect-nics.js';
import { findFreeBus } from '../machine/hotplug-ports.js';
import { createNicBackend, createNicDevice, netdevId } from '../machine/machine-arguments.js';

import { ATTACHED_ERRORS, DETACHED_ERRORS, ignoreExpectedError, removeDevice } from '../machine/remove-device.js';
import type { DriverOperations } from './operation-request.js';

/** How long a guest may take to release a network interface. */
const RELEASE_TIMEOUT_MS = 10_000;

/** Attaches and detaches interfaces of running machines. Changes to a stopped machine take effect at its next start. */
export const interfaceOperations: DriverOperations = {
  attach_interface: async ({ host, work, server }) => {
    const qmp = await host.machine(server).connectIfRunning();
    if (!qmp) return;
    const [nic] = await connectNics(host, server, [work.interface]);
    if (!nic) return;
    await qmp.execute('netdev_add', createNicBackend(nic)).catch(ignoreExpectedError(ATTACHED_ERRORS));
    const device = { ...createNicDevice(nic), ...(await findFreeBus(qmp)) };
    await qmp.execute('device_add', device).catch(ignoreExpectedError(ATTACHED_ERRORS));
  },
  detach_interface: async ({ host, work, server, signal }) => {
    const qmp = await host.machine(server).connectIfRunning();
    if (!qmp) return;
    const id = nicId(work.interface.portId);
    await removeDevice(qmp, id, Math.min(RELEASE_TIMEOUT_MS, host.parts.shutdownTimeoutMs), signal);
    // Removing the backend disconnects the interface, even if the guest has not released the device.
    await qmp.execute('netdev_del', { id: netdevId(id) }).catch(ignoreExpectedError(DETACHED_ERRORS));
  },
};
