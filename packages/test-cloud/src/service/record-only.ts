/**
 * Paths of resources that are stored but have no effect on machines, networks and disks, by service. A path is
 * relative to the version, and includes all paths below it.
 */
const RECORD_ONLY: Readonly<Record<string, readonly string[]>> = {
  network: [
    'address-groups',
    'bgp-peers',
    'bgp-speakers',
    'default-security-group-rules',
    'floatingips/:floatingip_id/port_forwardings',
    'metering',
    'network-segment-ranges',
    'qos',
    'routers/:router_id/conntrack_helpers',
    'segments',
    'taas',
    'trunks',
  ],
  volume: [
    'backups',
    'manageable_snapshots',
    'manageable_volumes',
    'os-snapshot-manage',
    'os-volume-manage',
    'qos-specs',
    'types/:id/encryption',
  ],
};

/** Returns whether a request creates a resource that is stored but has no effect. */
export function isRecordOnly(service: string, method: string, path: string): boolean {
  const [, , ...segments] = path.split('/');
  const name = `${segments.join('/')}/`;
  return method === 'post' && (RECORD_ONLY[service] ?? []).some((one) => name.startsWith(`${one}/`));
}
