import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { NetworkMode, NicRequirements } from '../network/network-mode.js';
import type { NetworkBackend } from '../network/user-network.js';
import { type Tuning, tuningOf } from '../tuning/tuning.js';
import type { MachineLayout } from './machine-layout.js';
import type { NicShape } from './machine-shape.js';

/** The members of a host that are needed to connect network interfaces. */
interface NicHost {
  readonly networks: Pick<NetworkMode, 'connect'>;
  interfaces(server: Server, serverInterfaces: Server['interfaces']): Promise<readonly GuestInterface[]>;
}

/** Options for connecting a machine's interfaces. */
interface NicOptions {
  /** Whether the machine is about to start. If so, all of its interfaces are connected in one call. */
  readonly starting?: boolean;
  /** The machine's flavor, if it differs from the server record's flavor. */
  readonly flavor?: FlavorCopy;
  /** The device layout of the machine from which the new machine receives its memory. */
  readonly incoming?: MachineLayout | undefined;
}

/** Returns the QEMU device id of a network interface. */
export function nicId(portId: string): string {
  return `nic-${portId}`;
}

/**
 * Returns what interfaces require of their network backends. Migrated and resumed guests keep their number of queues.
 */
export function nicRequirementsOf(
  interfaces: readonly Pick<GuestInterface, 'portId'>[],
  { nicModel, nicQueues }: Tuning,
  incoming: MachineLayout | undefined,
): NicRequirements {
  const queues = interfaces.map(({ portId }) => (incoming ? (incoming.queues[nicId(portId)] ?? 1) : nicQueues));
  return { queues, virtio: nicModel === 'virtio-net-pci' };
}

/** Connects a server's interfaces to their networks, and returns the machine's network devices with their backends. */
export async function connectNics(
  host: NicHost,
  server: Server,
  serverInterfaces: Server['interfaces'],
  { starting = false, flavor = server.flavor, incoming }: NicOptions = {},
): Promise<readonly NicShape[]> {
  const interfaces = await host.interfaces(server, serverInterfaces);
  const tuning = tuningOf(flavor, server.imageProperties);
  const requirements = nicRequirementsOf(interfaces, tuning, incoming);
  const backends = await host.networks.connect(server, interfaces, starting, requirements);
  return interfaces.map(({ portId, mac, mtu }, index) => ({
    id: nicId(portId),
    mac,
    mtu,
    model: tuning.nicModel,
    backend: backends[index] as NetworkBackend,
  }));
}
