import type { FloatingIpView } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { Wire } from '../service/listing.js';
import type { ResourceSpec } from '../service/resource.js';
import { conflict, notFound } from '../service/service-error.js';
import { anyId, text, wholeBetween } from '../service/wire-types.js';
import { floatingIpView } from './network-views.js';
import { ownerFields, standardFields } from './standard-fields.js';

const unlisted = { filter: false } as const;
const beside = { aside: true, filter: false } as const;

/** The router that leads from the port's network to where the floating address is, and the port itself. */
async function viewOf({ cloud, caller }: Call, floating: FloatingIpView): Promise<Doc> {
  if (!floating.portId) return floatingIpView(floating, null, null);
  const port = await cloud.catalogs.networks.getPort(caller, floating.portId);
  const around = await cloud.catalogs.networks.listPorts({ ...caller, isAdmin: true }, { networkId: port.networkId });
  const router = around.find(({ deviceOwner }) => deviceOwner === 'network:router_interface');
  return floatingIpView(floating, router?.deviceId ?? null, port);
}

async function lead(call: Call, id: string, body: Wire): Promise<Doc> {
  const { networks } = call.cloud.catalogs;
  if (typeof body.port_id === 'string') {
    const fixedAddress = (body.fixed_ip_address as string | null | undefined) ?? undefined;
    await networks.associateFloatingIp(call.caller, id, { portId: body.port_id, fixedAddress });
  } else if (body.port_id === null) await networks.disassociateFloatingIp(call.caller, id);
  return viewOf(call, await networks.getFloatingIp(call.caller, id));
}

/** Addresses of an external network that lead to ports. */
export const floatingIps: ResourceSpec = {
  path: 'floatingips',
  one: 'floatingip',
  many: 'floatingips',
  title: 'Floating IP',
  tags: true,
  fields: () => ({
    ...standardFields,
    floating_network_id: required(fixed(anyId)),
    floating_ip_address: fixed(z.string().nullable(), undefined, { admin: 'sets' }),
    subnet_id: fixed(z.string().nullable(), undefined, { hidden: true, filter: false }),
    port_id: settable(z.string().nullable()),
    fixed_ip_address: settable(z.string().nullable()),
    router_id: derived(),
    status: derived(),
    port_details: derived(undefined, unlisted),
    port_forwardings: derived(() => [], unlisted),
    dns_name: fixed(text, '', beside),
    dns_domain: fixed(text, '', beside),
    qos_policy_id: settable(anyId.nullable(), null, beside),
  }),
  shows: (call, { id }) => {
    const all = [...call.cloud.documents.table<Doc>('network/port_forwardings').values()];
    const mine = all.filter(({ floatingip_id }) => floatingip_id === id);
    return { port_forwardings: mine.map(({ id: _, floatingip_id: __, internal_port_id: ___, ...shown }) => shown) };
  },
  storage: {
    list: async (call) => {
      const floatingIps = await call.cloud.catalogs.networks.listFloatingIps(call.caller);
      return Promise.all(floatingIps.map((floating) => viewOf(call, floating)));
    },
    get: async (call, id) => viewOf(call, await call.cloud.catalogs.networks.getFloatingIp(call.caller, id)),
    create: async (call, body) => {
      const floating = await call.cloud.catalogs.networks.createFloatingIp(call.caller, {
        pool: String(body.floating_network_id),
        address: (body.floating_ip_address as string | null) ?? undefined,
        subnetId: (body.subnet_id as string | null) ?? undefined,
        projectId: body.project_id as string | undefined,
        description: body.description as string | undefined,
      });
      return body.port_id ? lead(call, floating.id, body) : viewOf(call, floating);
    },
    update: async (call, { id }, change) => {
      const { description, tags } = change as { description?: string; tags?: readonly string[] };
      await call.cloud.catalogs.networks.updateFloatingIp(call.caller, id, { description, tags });
      return lead(call, id, change);
    },
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.releaseFloatingIp(caller, id),
  },
};

const portNumber = wholeBetween(1, 65_535);

/** Single ports of a floating address, each led to another place. */
export const portForwardings: ResourceSpec = {
  path: 'floatingips/:floatingip_id/port_forwardings',
  one: 'port_forwarding',
  many: 'port_forwardings',
  title: 'Port forwarding',
  within: ['floatingip_id'],
  fields: () => ({
    id: ownerFields.id,
    project_id: fixed(text, undefined, { hidden: true }),
    floatingip_id: derived(undefined, { hidden: true }),
    external_port: required(settable(portNumber)),
    internal_port: required(settable(portNumber)),
    internal_ip_address: required(settable(z.string())),
    internal_port_id: required(settable(anyId)),
    protocol: required(settable(z.enum(['tcp', 'udp', 'icmp', 'icmp6', 'sctp', 'dccp']))),
    description: settable(text, ''),
    created_at: derived(undefined, { hidden: true }),
    updated_at: derived(undefined, { hidden: true }),
    revision_number: derived(undefined, { hidden: true }),
  }),
  async creating(call, given) {
    const { caller, cloud } = call;
    const floating = await cloud.catalogs.networks.getFloatingIp(caller, call.param('floatingip_id'));
    const port = await cloud.catalogs.networks.getPort(caller, String(given.internal_port_id));
    if (!port.fixedIps.some(({ address }) => address === given.internal_ip_address))
      throw notFound(`Port ${port.id} has no address ${given.internal_ip_address}`, 'PortHasNoFixedIp');
    if (floating.portId)
      throw conflict(`Floating IP ${floating.id} is in use by port ${floating.portId}`, 'PortForwardingNotSupported');
    const others = [...cloud.documents.table<Doc>('network/port_forwardings').values()];
    const taken = others.some(
      (one) =>
        one.floatingip_id === floating.id &&
        one.external_port === given.external_port &&
        one.protocol === given.protocol,
    );
    if (taken)
      throw conflict(
        `Bad port_forwarding request: A duplicate port forwarding entry with same attributes already exists.`,
        'BadRequest',
      );
  },
};
