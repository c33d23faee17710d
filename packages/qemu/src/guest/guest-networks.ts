import type { Server, ServerInterface } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { ownerOf } from '../images/image-cache.js';

/** An IP address of a guest interface, with the subnet settings that the guest needs. */
export interface GuestAddress {
  readonly address: string;
  readonly version: 4 | 6;
  /** Whether the guest must configure the address itself, because no DHCP server assigns it. */
  readonly isStatic: boolean;
  readonly cidr: string;
  readonly gateway: string | null;
  readonly nameservers: readonly string[];
  readonly routes: readonly { readonly destination: string; readonly nexthop: string }[];
}

/** A guest interface, with its settings from the network service. */
export interface GuestInterface {
  readonly portId: string;
  readonly networkId: string;
  readonly mac: string;
  readonly mtu: number;
  readonly tag: string | null;
  readonly addresses: readonly GuestAddress[];
}

const DEFAULT_MTU = 1500;

type Networks = DriverServices['networks'];

/** A network record. Only the embedded network service reports whether its ports are secured by default. */
type Network = Awaited<ReturnType<Networks['getNetwork']>> & { readonly portSecurityEnabled?: boolean };

/**
 * Reads an interface's settings from the network service. If the network was deleted, the interface has no addresses.
 */
export async function readGuestInterface(
  networks: Networks,
  server: Server,
  { portId, networkId, mac, tag, fixedIps }: ServerInterface,
): Promise<GuestInterface> {
  const caller = ownerOf(server);
  const network: Network | undefined = await networks.getNetwork(caller, networkId).catch(ignoreNotFound);
  // On a network without port security, a DHCP server outside the cloud may assign the guest's address.
  const isSecured = network?.portSecurityEnabled !== false;
  const addresses = await Promise.all(
    fixedIps.map(async ({ address, version, subnetId }) => {
      const subnet = await networks.getSubnet(caller, subnetId).catch(ignoreNotFound);
      return (
        subnet && {
          address,
          version,
          isStatic: !subnet.enableDhcp && isSecured,
          cidr: subnet.cidr,
          gateway: subnet.gatewayIp,
          nameservers: subnet.dnsNameservers,
          routes: subnet.hostRoutes,
        }
      );
    }),
  );
  const knownAddresses = addresses.filter((address) => address !== undefined);
  return { portId, networkId, mac, tag, mtu: network?.mtu ?? DEFAULT_MTU, addresses: knownAddresses };
}

function ignoreNotFound(error: unknown): undefined {
  if ((error as { kind?: string }).kind !== 'not-found') throw error;
}
