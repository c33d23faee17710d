/**
 * The paths of resources that are stored but do not affect machines, networks or disks, by service. Each path starts
 * after the version, and includes all paths below it.
 */
const RECORD_ONLY: Readonly<Record<string, readonly string[]>> = {
  network: [
    'address-groups',
    'bgp-peers',
    'bgp-speakers',
    'default-security-group-rules',
    'floatingips/:floatingip_id/port_forwardings',
    'metering',
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

/** Returns whether a route creates resources that are only stored and have no other effect. */
export function isRecordOnly(service: string, method: string, path: string): boolean {
  const [, , ...segments] = path.split('/');
  const name = `${segments.join('/')}/`;
  return method === 'post' && (RECORD_ONLY[service] ?? []).some((one) => name.startsWith(`${one}/`));
}
