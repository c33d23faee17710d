/** The catalog's field names that differ from the wire names in more than letter case, by wire name. */
const CATALOG_NAMES: Readonly<Record<string, string>> = {
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

/** Keys that are omitted, because the catalog derives their values or callers convert them separately. */
const EXCLUDED_KEYS = new Set(['ip_version', 'fixed_ips', 'external_gateway_info', 'stateful']);

/**
 * Converts a body's snake-case keys to the catalog's camel-case names. Keeps null values and omits undefined values.
 */
export function toCamelCase<T>(body: Readonly<Record<string, unknown>>): T {
  const entries = Object.entries(body).filter(([key, value]) => value !== undefined && !EXCLUDED_KEYS.has(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [
      CATALOG_NAMES[key] ?? key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as T;
}
