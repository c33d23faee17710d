import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { NetworkMode, NicRequirements } from '../network/network-mode.js';
import type { NetworkBackend } from '../network/user-network.js';
import { type Tuning, tuningOf } from '../tuning/tuning.js';
import type { MachineLayout } from './machine-layout.js';
import type { NicShape } from './machine-shape.js';

/** The part of a host that connects interfaces. */
interface NicHost {
  readonly networks: Pick<NetworkMode, 'connect'>;
  interfaces(server: Server, which: Server['interfaces']): Promise<readonly GuestInterface[]>;
}

/** Properties of the machine whose interfaces are connected. */
interface NicOptions {
  /** Whether these are all interfaces of a machine that is about to start. */
  readonly starting?: boolean;
  /** The machine's flavor, if it differs from the one in the server's record. */
  readonly flavor?: FlavorCopy;
  /** The layout of the machine whose memory this one takes over. */
  readonly incoming?: MachineLayout | undefined;
}

/** Returns the name of an interface in QEMU. */
export function nicId(portId: string): string {
  return `nic-${portId}`;
}

/** Returns what the interfaces require of their network backends. A guest that is taken over keeps its number of queues. */
export function nicRequirements(
  interfaces: readonly Pick<GuestInterface, 'portId'>[],
  { nicModel, nicQueues }: Tuning,
  incoming: MachineLayout | undefined,
): NicRequirements {
  const queues = interfaces.map(({ portId }) => (incoming ? (incoming.queues[nicId(portId)] ?? 1) : nicQueues));
  return { queues, virtio: nicModel === 'virtio-net-pci' };
}

/** Connects interfaces of a server to its networks, and returns the devices of its machine with their backends. */
export async function connectNics(
  host: NicHost,
  server: Server,
  which: Server['interfaces'],
  { starting = false, flavor = server.flavor, incoming }: NicOptions = {},
): Promise<readonly NicShape[]> {
  const interfaces = await host.interfaces(server, which);
  const tuning = tuningOf(flavor, server.imageProperties);
  const requirements = nicRequirements(interfaces, tuning, incoming);
  const backends = await host.networks.connect(server, interfaces, starting, requirements);
  return interfaces.map(({ portId, mac, mtu }, index) => ({
    id: nicId(portId),
    mac,
    mtu,
    model: tuning.nicModel,
    backend: backends[index] as NetworkBackend,
  }));
}
