import { netdevId, nicBackend, nicDevice } from '../machine/machine-arguments.js';
import { GONE, removeDevice, THERE, unlessSo } from '../machine/remove-device.js';
import { nicId } from '../machine/shape-of.js';
import type { Verbs } from './order.js';

/** How long a guest may take to let go of a device. */
const LET_GO_MS = 10_000;

/** Interfaces that come and go. A machine that is off has them when it is started. */
export const interfaces: Verbs = {
  attach_interface: async ({ host, work, server }) => {
    const qmp = await host.machine(server).running();
    if (!qmp) return;
    const [nic] = await host.nics(server, [work.interface]);
    if (!nic) return;
    await qmp.execute('netdev_add', nicBackend(nic)).catch(unlessSo(THERE));
    await qmp.execute('device_add', nicDevice(nic)).catch(unlessSo(THERE));
  },
  detach_interface: async ({ host, work, server, signal }) => {
    const qmp = await host.machine(server).running();
    if (!qmp) return;
    const id = nicId(work.interface.portId);
    await removeDevice(qmp, id, Math.min(LET_GO_MS, host.parts.shutdownTimeoutMs), signal);
    // Whether or not the guest has let go, the interface leads nowhere from here on.
    await qmp.execute('netdev_del', { id: netdevId(id) }).catch(unlessSo(GONE));
  },
};
