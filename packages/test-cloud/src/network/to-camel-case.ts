/** The catalog's names of the fields whose wire names differ by more than the case. */
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

/** Keys that the catalog derives from others. */
const EXCLUDED = new Set(['ip_version', 'fixed_ips', 'external_gateway_info', 'stateful']);

/** Converts the keys of a body to the catalog's names: snake case becomes camel case. Keeps null, and omits undefined. */
export function toCamelCase<T>(body: Readonly<Record<string, unknown>>): T {
  const entries = Object.entries(body).filter(([key, value]) => value !== undefined && !EXCLUDED.has(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [
      NAMES[key] ?? key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as T;
}
