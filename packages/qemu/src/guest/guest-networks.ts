import type { Server, ServerInterface } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { ownerOf } from '../images/image-cache.js';

/** An address of an interface, and what the guest needs to know beside it. */
export interface GuestAddress {
  readonly address: string;
  readonly version: 4 | 6;
  readonly cidr: string;
  readonly gateway: string | null;
  readonly nameservers: readonly string[];
  readonly routes: readonly { readonly destination: string; readonly nexthop: string }[];
}

/** An interface of a guest with everything that the network service says of it. */
export interface GuestInterface {
  readonly portId: string;
  readonly networkId: string;
  readonly mac: string;
  readonly mtu: number;
  readonly tag: string | null;
  readonly addresses: readonly GuestAddress[];
}

const USUAL_MTU = 1500;

/** Asks the network service what an interface of a server is. Networks that are gone leave it without addresses. */
export async function guestInterface(
  networks: DriverServices['networks'],
  server: Server,
  { portId, networkId, mac, tag, fixedIps }: ServerInterface,
): Promise<GuestInterface> {
  const caller = ownerOf(server);
  const network = await networks.getNetwork(caller, networkId).catch(unlessMissing);
  const addresses = await Promise.all(
    fixedIps.map(async ({ address, version, subnetId }) => {
      const subnet = await networks.getSubnet(caller, subnetId).catch(unlessMissing);
      return (
        subnet && {
          address,
          version,
          cidr: subnet.cidr,
          gateway: subnet.gatewayIp,
          nameservers: subnet.dnsNameservers,
          routes: subnet.hostRoutes,
        }
      );
    }),
  );
  const known = addresses.filter((address) => address !== undefined);
  return { portId, networkId, mac, tag, mtu: network?.mtu ?? USUAL_MTU, addresses: known };
}

function unlessMissing(error: unknown): undefined {
  if ((error as { kind?: string }).kind !== 'not-found') throw error;
}
