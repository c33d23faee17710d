import { z } from 'zod';

const text = z.string().max(255);
const pools = z.array(z.object({ start: z.string(), end: z.string() })).optional();
const fixedIps = z.array(z.object({ ip_address: z.string().optional(), subnet_id: z.string().optional() })).optional();

/** Body key, wire name and catalog name of everything that clients set; see `renamed`. */
export const NETWORK = {
  name: text.optional(),
  description: text.optional(),
  admin_state_up: z.boolean().optional(),
  shared: z.boolean().optional(),
  'router:external': z.boolean().optional(),
  mtu: z.number().int().min(0).max(65_535).nullish(),
  is_default: z.boolean().optional(),
  port_security_enabled: z.boolean().optional(),
  tenant_id: text.optional(),
  project_id: text.optional(),
};

export const SUBNET = {
  name: text.optional(),
  description: text.optional(),
  gateway_ip: z.string().nullish(),
  allocation_pools: pools,
  dns_nameservers: z.array(z.string()).optional(),
  host_routes: z.array(z.object({ destination: z.string(), nexthop: z.string() })).optional(),
  enable_dhcp: z.boolean().optional(),
};

export const NEW_SUBNET = {
  ...SUBNET,
  network_id: z.string(),
  cidr: z.string(),
  ip_version: z.union([z.literal(4), z.literal(6), z.literal('4'), z.literal('6')]),
  ipv6_address_mode: z.string().nullish(),
  ipv6_ra_mode: z.string().nullish(),
  tenant_id: text.optional(),
  project_id: text.optional(),
};

export const PORT = {
  name: text.optional(),
  description: text.optional(),
  admin_state_up: z.boolean().optional(),
  fixed_ips: fixedIps,
  security_groups: z.array(z.string()).optional(),
  device_id: text.optional(),
  device_owner: text.optional(),
  'binding:host_id': text.nullish(),
  'binding:vnic_type': text.optional(),
  'binding:profile': z.record(z.string(), z.unknown()).nullish(),
  port_security_enabled: z.boolean().optional(),
  dns_name: text.optional(),
  allowed_address_pairs: z.array(z.record(z.string(), z.string())).optional(),
};

export const NEW_PORT = {
  ...PORT,
  network_id: z.string(),
  mac_address: z
    .string()
    .regex(/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, 'is not a valid MAC address')
    .optional(),
  tenant_id: text.optional(),
  project_id: text.optional(),
};

const gateway = z
  .object({
    network_id: z.string().nullish(),
    enable_snat: z.boolean().optional(),
    external_fixed_ips: z.array(z.unknown()).optional(),
  })
  .nullish();

export const ROUTER = {
  name: text.optional(),
  description: text.optional(),
  admin_state_up: z.boolean().optional(),
  external_gateway_info: gateway,
  tenant_id: text.optional(),
  project_id: text.optional(),
};

export const RouterInterface = z.union([z.object({ subnet_id: z.string() }), z.object({ port_id: z.string() })]);

export const FLOATING_IP = {
  floating_network_id: z.string().optional(),
  subnet_id: z.string().nullish(),
  floating_ip_address: z.string().nullish(),
  port_id: z.string().nullish(),
  fixed_ip_address: z.string().nullish(),
  description: text.optional(),
  tenant_id: text.optional(),
  project_id: text.optional(),
};

export const GROUP = {
  name: text.optional(),
  description: text.optional(),
  stateful: z.boolean().optional(),
  tenant_id: text.optional(),
  project_id: text.optional(),
};

const port = z.union([z.number().int(), z.string().regex(/^\d+$/).transform(Number)]).nullish();

export const RULE = {
  security_group_id: z.string(),
  direction: z.enum(['ingress', 'egress']),
  ethertype: z.enum(['IPv4', 'IPv6']).nullish(),
  protocol: z.union([z.string(), z.number().transform(String)]).nullish(),
  port_range_min: port,
  port_range_max: port,
  remote_ip_prefix: z.string().nullish(),
  remote_group_id: z.string().nullish(),
  description: text.optional(),
};

export const Tags = z.object({ tags: z.array(z.string().max(60)) });

/** The envelope that bodies come in, with what else there may be of plugins left aside. */
export function envelope<K extends string, S extends z.ZodRawShape>(key: K, shape: S) {
  return z.object({ [key]: z.object(shape) } as { [P in K]: z.ZodObject<S> });
}
