import { stableUuid } from '../identity/new-id.js';
import type { Call } from '../service/call.js';
import { portView } from './network-views.js';

type FloatingIp = Awaited<ReturnType<Call['cloud']['catalogs']['networks']['listFloatingIps']>>[number];

/** Returns the port that has a floating IP's address on the external network. It belongs to no project. */
function floatingIpPort({ id: deviceId, networkId, subnetId, address, ...floatingIp }: FloatingIp) {
  const id = stableUuid('floating-ip-port', deviceId);
  const { createdAt, updatedAt, revision } = floatingIp;
  return portView({
    id,
    name: '',
    description: '',
    tags: [],
    projectId: '',
    createdAt,
    updatedAt,
    revision,
    networkId,
    mac: `fa:16:3e:${id.slice(0, 2)}:${id.slice(2, 4)}:${id.slice(4, 6)}`,
    fixedIps: [{ subnetId, address, version: address.includes(':') ? 6 : 4, floating: [] }],
    securityGroups: [],
    status: 'N/A',
    adminStateUp: true,
    deviceId,
    deviceOwner: 'network:floatingip',
    vnicType: 'normal',
    portSecurityEnabled: false,
    dnsName: '',
    allowedAddressPairs: [],
    hostId: '',
    bindingProfile: {},
  });
}

/**
 * Returns the ports of the floating IPs, which only administrators see. Other resources of the service do not refer to
 * them.
 */
export async function floatingIpPorts(call: Call) {
  if (!call.isAdmin) return [];
  return (await call.cloud.catalogs.networks.listFloatingIps(call.caller)).map(floatingIpPort);
}
