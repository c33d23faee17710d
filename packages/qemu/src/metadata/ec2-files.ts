import type { GuestMetadata } from '../guest/meta-data.js';

/** The supported versions of the EC2 metadata format, which all have the same content. */
const METADATA_VERSIONS = ['1.0', '2009-04-04', 'latest'];

/** Returns an EC2-style id: a prefix and eight hexadecimal digits. */
function toEc2Id(kind: string, id: string): string {
  return `${kind}-${id.replaceAll('-', '').slice(0, 8)}`;
}

/**
 * Returns a guest's metadata files in the EC2 format, by path.
 *
 * @param floatingAddress the guest's floating IP address
 */
export function createEc2Files(
  { server, interfaces }: GuestMetadata,
  floatingAddress: string | undefined,
): ReadonlyMap<string, Buffer> {
  const { id, hostname, keyName, keyData, userData } = server;
  const localAddress =
    interfaces.flatMap(({ addresses }) => addresses).find(({ version }) => version === 4)?.address ?? '';
  const values: Readonly<Record<string, string | null | undefined>> = {
    'ami-id': server.imageId === '' ? null : toEc2Id('ami', server.imageId),
    'ami-launch-index': `${server.launchIndex}`,
    'block-device-mapping/ami': 'vda',
    'block-device-mapping/root': '/dev/vda',
    hostname,
    'instance-action': 'none',
    'instance-id': toEc2Id('i', id),
    'instance-type': server.flavor.name,
    'local-hostname': hostname,
    'local-ipv4': localAddress,
    mac: interfaces[0]?.mac,
    'placement/availability-zone': server.pinnedZone ?? 'nova',
    'public-hostname': hostname,
    'public-ipv4': floatingAddress ?? '',
    ...(keyName !== null && { 'public-keys/0/openssh-key': keyData }),
    'reservation-id': server.reservationId,
  };
  const entries = Object.entries(values).flatMap(([name, text]) =>
    typeof text === 'string' ? [[`meta-data/${name}`, Buffer.from(text)] as const] : [],
  );
  const files = userData ? [...entries, ['user-data', Buffer.from(userData, 'base64')] as const] : entries;
  return new Map(
    METADATA_VERSIONS.flatMap((version) => files.map(([path, bytes]) => [`${version}/${path}`, bytes] as const)),
  );
}
