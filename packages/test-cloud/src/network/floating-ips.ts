import type { FloatingIpView } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Wire } from '../service/wire.js';
import { networkError } from './network-errors.js';
import { floatingIpView } from './network-views.js';
import { forwardingsOf, rejectForwardedFloatingIp } from './port-forwardings.js';
import { resourceNames, standardFields } from './standard-fields.js';
import { address, domainName, relativeName, uuid } from './value-types.js';

const noFilter = { filter: false } as const;
const unfilteredDocument = { inDocuments: true, filter: false } as const;

/** Returns a floating IP in wire format, with its port and the router that is connected to the port's network. */
async function describeFloatingIp({ cloud, caller, elevatedCaller }: Call, floating: FloatingIpView): Promise<Doc> {
  if (!floating.portId) return floatingIpView(floating, null, null);
  const port = await cloud.catalogs.networks.getPort(caller, floating.portId);
  const networkPorts = await cloud.catalogs.networks.listPorts(elevatedCaller, { networkId: port.networkId });
  const router = networkPorts.find(({ deviceOwner }) => deviceOwner === 'network:router_interface');
  return floatingIpView(floating, router?.deviceId ?? null, port);
}

async function changeAssociation(call: Call, id: string, body: Wire): Promise<Doc> {
  const { networks } = call.cloud.catalogs;
  if (typeof body.port_id === 'string') {
    const fixedAddress = (body.fixed_ip_address as string | null | undefined) ?? undefined;
    await networks.associateFloatingIp(call.caller, id, { portId: body.port_id, fixedAddress });
  } else if (body.port_id === null) await networks.disassociateFloatingIp(call.caller, id);
  return describeFloatingIp(call, await networks.getFloatingIp(call.caller, id));
}

/** The port forwarding fields that the response for a floating IP contains. */
const FORWARDING_FIELDS = [
  'id',
  'internal_ip_address',
  'protocol',
  'internal_port',
  'external_port',
  'internal_port_id',
] as const;

/** Floating IPs, which are external addresses that can be associated with ports. */
export const floatingIps: ResourceSpec = {
  ...resourceNames('floatingip'),
  title: 'Floating IP',
  tags: true,
  fields: () => ({
    ...standardFields,
    floating_network_id: required(fixed(uuid)),
    floating_ip_address: fixed(address.nullable(), undefined, { manager: true }),
    subnet_id: fixed(uuid.nullable(), undefined, { hidden: true, filter: false }),
    port_id: settable(uuid.nullable(), undefined, { filter: 'only' }),
    fixed_ip_address: settable(address.nullable()),
    router_id: derived(),
    status: derived(),
    port_details: derived(undefined, noFilter),
    port_forwardings: derived(() => [], noFilter),
    dns_name: fixed(relativeName, '', unfilteredDocument),
    dns_domain: fixed(domainName, '', unfilteredDocument),
    qos_policy_id: settable(uuid.nullable(), null, unfilteredDocument),
  }),
  shows: async (call, { id }) => ({
    port_forwardings: (await forwardingsOf(call, id)).map((forwarding) =>
      Object.fromEntries(FORWARDING_FIELDS.map((name) => [name, forwarding[name]])),
    ),
  }),
  async changing(call, { id }, { port_id }) {
    if (port_id) await rejectForwardedFloatingIp(call, id);
    return undefined;
  },
  removing: (call, { id }) => rejectForwardedFloatingIp(call, id),
  storage: {
    list: async (call) => {
      const floatingIps = await call.cloud.catalogs.networks.listFloatingIps(call.caller);
      return Promise.all(floatingIps.map((floating) => describeFloatingIp(call, floating)));
    },
    get: async (call, id) =>
      describeFloatingIp(call, await call.cloud.catalogs.networks.getFloatingIp(call.caller, id)),
    create: async (call, body) => {
      const externalNetwork = await call.cloud.catalogs.networks.getNetwork(
        call.caller,
        String(body.floating_network_id),
      );
      if (!externalNetwork.external)
        throw networkError(
          'BadRequest',
          `Bad floatingip request: Network ${externalNetwork.id} is not a valid external network.`,
        );
      const floating = await call.cloud.catalogs.networks.createFloatingIp(call.caller, {
        pool: externalNetwork.id,
        address: (body.floating_ip_address as string | null) ?? undefined,
        subnetId: (body.subnet_id as string | null) ?? undefined,
        projectId: body.project_id as string | undefined,
        description: body.description as string | undefined,
      });
      if (!body.port_id) return describeFloatingIp(call, floating);
      return changeAssociation(call, floating.id, body).catch(async (error) => {
        await call.cloud.catalogs.networks.releaseFloatingIp(call.caller, floating.id);
        throw error;
      });
    },
    update: async (call, { id }, requested) => {
      // As in Neutron, an update request without fields removes the association with a port.
      const change: Wire = Object.keys(requested).length === 0 ? { port_id: null } : requested;
      const { description, tags } = change as { description?: string; tags?: readonly string[] };
      await call.cloud.catalogs.networks.updateFloatingIp(call.caller, id, { description, tags });
      return changeAssociation(call, id, change);
    },
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.releaseFloatingIp(caller, id),
  },
};
