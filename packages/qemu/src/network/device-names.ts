import { createHash } from 'node:crypto';

/** What all devices and namespaces of this program are called, at their beginning. */
const PREFIX = 'aq';

/** Kernels take 15 bytes: prefix, kind, and twelve digits of the id, which 65,000 networks share with a chance of one in 10^5. */
function deviceName(kind: 'b' | 't' | 'r' | 'u' | 's', id: string): string {
  const digits = /^[0-9a-f-]{36}$/.test(id) ? id.replaceAll('-', '') : createHash('sha256').update(id).digest('hex');
  return `${PREFIX}${kind}${digits.slice(0, 12)}`;
}

/** The bridge of a network. */
export const bridgeName = (networkId: string) => deviceName('b', networkId);
/** What QEMU opens for a port of a guest. */
export const tapName = (portId: string) => deviceName('t', portId);
/** Where a router meets a network; the name of the router's namespace has the same form. */
export const routerName = (id: string) => deviceName('r', id);
/** What leads from a router to this computer. */
export const uplinkName = (routerId: string) => deviceName('u', routerId);
/** Where a network's own services are; the name of their namespace, too. */
export const serviceName = (networkId: string) => deviceName('s', networkId);

/** Whether a device or a namespace is this program's. */
export function isOurs(name: string): boolean {
  return /^aq[btrus][0-9a-f]{12}$/.test(name);
}

/** Devices that frames of networks come by and that are not the bridge: as nftables names them. */
export const memberNames = ['t', 'r', 's'].map((kind) => `${PREFIX}${kind}*`);
export const bridgeNames = `${PREFIX}b*`;
export const uplinkNames = `${PREFIX}u*`;

/** A locally administered MAC address that is always the same for the same text. */
export function macFor(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex').slice(0, 10);
  return `02:${digits.match(/../g)?.join(':')}`;
}
