/** Wire names and the catalog's, where it is not a matter of spelling. */
const NAMES: Readonly<Record<string, string>> = {
  'router:external': 'external',
  'binding:host_id': 'hostId',
  'binding:vnic_type': 'vnicType',
  'binding:profile': 'bindingProfile',
  mac_address: 'mac',
  tenant_id: 'projectId',
  project_id: 'projectId',
  port_range_min: 'portMin',
  port_range_max: 'portMax',
  remote_ip_prefix: 'remoteCidr',
};

/** Keys that no catalog needs: they follow from others. */
const LEFT_OUT = new Set(['ip_version', 'fixed_ips', 'external_gateway_info', 'stateful']);

/** A body in the catalog's words: snake case becomes camel case. Null stays; what was not said stays so. */
export function renamed<T>(body: Readonly<Record<string, unknown>>): T {
  const entries = Object.entries(body).filter(([key, value]) => value !== undefined && !LEFT_OUT.has(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [
      NAMES[key] ?? key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as T;
}
