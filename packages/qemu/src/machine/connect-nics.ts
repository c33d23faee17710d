import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { NetworkMode, NicNeeds } from '../network/network-mode.js';
import type { NetworkBackend } from '../network/user-network.js';
import { type Tuning, tuningOf } from '../tuning/tuning.js';
import type { MachineLayout } from './machine-layout.js';
import type { NicShape } from './machine-shape.js';

/** The part of a host that connects interfaces. */
interface NicHost {
  readonly networks: Pick<NetworkMode, 'connect'>;
  interfaces(server: Server, which: Server['interfaces']): Promise<readonly GuestInterface[]>;
}

/** The machine that interfaces are connected for. */
interface NicOptions {
  /** Whether these are all interfaces of a machine that is about to start. */
  readonly starting?: boolean;
  /** The flavor of the machine, if it is not that of the server's record. */
  readonly flavor?: FlavorCopy;
  /** The layout of the machine whose memory it takes over. */
  readonly incoming?: MachineLayout | undefined;
}

/** The name of an interface in QEMU. */
export function nicId(portId: string): string {
  return `nic-${portId}`;
}

/** Returns what interfaces need from their backends. A guest that is taken over keeps the queues that it has. */
export function nicNeeds(
  interfaces: readonly Pick<GuestInterface, 'portId'>[],
  { nicModel, nicQueues }: Tuning,
  incoming: MachineLayout | undefined,
): NicNeeds {
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
  const needs = nicNeeds(interfaces, tuning, incoming);
  const backends = await host.networks.connect(server, interfaces, starting, needs);
  return interfaces.map(({ portId, mac, mtu }, index) => ({
    id: nicId(portId),
    mac,
    mtu,
    model: tuning.nicModel,
    backend: backends[index] as NetworkBackend,
  }));
}
