import type { FixedIpRequest, PortView, RouterFields } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { changeable, derived, fixed, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { get, put } from '../service/route.js';
import type { Wire } from '../service/wire.js';
import { anyId, flag, text } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { notAllowedError } from './network-style.js';
import { routerView } from './network-views.js';
import { checkRoutes } from './router-routes.js';
import { resourceNames, standardFields } from './standard-fields.js';
import { toCamelCase } from './to-camel-case.js';
import { fixedIp, nullableList, route, uniqueList, uuid } from './value-types.js';

const gateway = z.strictObject({
  network_id: uuid,
  enable_snat: flag.optional(),
  external_fixed_ips: z.array(fixedIp).optional(),
  qos_policy_id: uuid.nullish(),
});
/** The external gateway of a router. Null or an empty object means that the router has no gateway. */
const gatewayOrNone = z.union([z.strictObject({}), gateway]).nullable();
const InterfaceBody = z.object({ subnet_id: z.unknown().optional(), port_id: z.unknown().optional() });
const RoutesBody = z.object({ router: z.object({ routes: z.array(route) }) });

const noFilter = { filter: false } as const;
const adminOnlyDocument = { admin: 'read', inDocuments: true, filter: false } as const;
const unfilteredDocument = { inDocuments: true, filter: false } as const;

function catalogFields({ external_gateway_info, ...body }: Wire): RouterFields {
  if (external_gateway_info === undefined) return toCamelCase<RouterFields>(body);
  const requested = external_gateway_info as Partial<z.infer<typeof gateway>> | null;
  const externalFixedIps = requested?.external_fixed_ips?.map(
    ({ ip_address: address, subnet_id: subnetId }): FixedIpRequest => ({ address, subnetId }),
  );
  return {
    ...toCamelCase<RouterFields>(body),
    externalNetworkId: requested?.network_id ?? null,
    enableSnat: requested?.enable_snat ?? true,
    ...(externalFixedIps && { externalFixedIps }),
  };
}

/** Returns the subnet or port that a request names. If a removal names both, the port is used. */
function requestedInterface(
  call: Call,
  allowsBoth = false,
): { readonly subnetId: string } | { readonly portId: string } {
  const { subnet_id, port_id } = call.body(InterfaceBody);
  const badRouterRequest = (message: string) => networkError('BadRequest', `Bad router request: ${message}.`);
  if (subnet_id === undefined && port_id === undefined)
    throw badRouterRequest('Either subnet_id or port_id must be specified');
  const requireUuid = (value: unknown) => {
    if (!z.guid().safeParse(value).success) throw badRouterRequest(`'${value}' is not a valid UUID`);
    return String(value);
  };
  const portId = port_id === undefined ? undefined : requireUuid(port_id);
  const subnetId = subnet_id === undefined ? undefined : requireUuid(subnet_id);
  if (portId !== undefined && subnetId !== undefined && !allowsBoth)
    throw badRouterRequest('Cannot specify both subnet-id and port-id');
  return portId === undefined ? { subnetId: String(subnetId) } : { portId };
}

const interfaceView = (call: Call, port: PortView) => ({
  id: call.param('id'),
  tenant_id: port.projectId,
  project_id: port.projectId,
  port_id: port.id,
  network_id: port.networkId,
  subnet_id: port.fixedIps[0]?.subnetId,
  subnet_ids: port.fixedIps.map(({ subnetId }) => subnetId),
});

/** Throws if a caller who is not an administrator sets a gateway field that is reserved for administrators. */
function rejectReservedFields(call: Call, verb: 'create' | 'update', { external_gateway_info }: Wire): undefined {
  const requested = (external_gateway_info ?? {}) as Wire;
  const reservedField = ['enable_snat', 'external_fixed_ips'].find((key) => requested[key] !== undefined);
  if (reservedField && !call.isAdmin) throw notAllowedError(`${verb}_router:external_gateway_info:${reservedField}`);
}

const isSameRoute = (a: z.infer<typeof route>, b: z.infer<typeof route>) =>
  a.destination === b.destination && a.nexthop === b.nexthop;

/** Routers, which connect networks to each other and to external networks. */
export const routers: ResourceSpec = {
  ...resourceNames('router'),
  tags: true,
  fields: () => ({
    ...standardFields,
    name: settable(text, ''),
    admin_state_up: settable(flag, true),
    status: derived(undefined, { filter: 'sort' }),
    external_gateway_info: settable(gatewayOrNone, undefined, noFilter),
    routes: changeable(nullableList(route), () => [], unfilteredDocument),
    distributed: settable(flag.nullable(), false, adminOnlyDocument),
    ha: settable(flag.nullable(), false, adminOnlyDocument),
    flavor_id: fixed(anyId.nullable(), null, { inDocuments: true, filter: 'sort' }),
    availability_zone_hints: fixed(uniqueList(text), () => [], unfilteredDocument),
    availability_zones: derived(undefined, noFilter),
  }),
  creating: (call, router) => rejectReservedFields(call, 'create', router),
  async changing(call, before, change) {
    rejectReservedFields(call, 'update', change);
    if (change.routes) await checkRoutes(call, before, change.routes as readonly Wire[]);
    return undefined;
  },
  routes: (resource) => [
    ...([true, false] as const).map((adds) => {
      const action = adds ? 'add_router_interface' : 'remove_router_interface';
      return put(`/v2.0/routers/:id/${action}`, async (call) => {
        const requested = requestedInterface(call, !adds);
        const { id } = await resource.find(call, call.param('id'), 'change', action);
        const { networks } = call.cloud.catalogs;
        const port = adds
          ? await networks.addRouterInterface(call.caller, id, requested)
          : await networks.removeRouterInterface(call.caller, id, requested);
        return interfaceView(call, port);
      });
    }),
    ...(['add_extraroutes', 'remove_extraroutes'] as const).map((action) =>
      put(`/v2.0/routers/:id/${action}`, async (call) => {
        const before = await resource.find(call, call.param('id'), 'change', action);
        const { routes: previous } = (await resource.show(call, before)) as {
          routes: readonly z.infer<typeof route>[];
        };
        const { routes: requested } = call.body(RoutesBody).router;
        const remainingRoutes = previous.filter((one) => !requested.some((other) => isSameRoute(one, other)));
        const routes = action === 'add_extraroutes' ? [...remainingRoutes, ...requested] : remainingRoutes;
        return { router: await resource.apply(call, before, { routes }) };
      }),
    ),
    get('/v2.0/routers/:id/l3-agents', async (call) => {
      await resource.find(call, call.param('id'));
      return { agents: [] };
    }),
  ],
  storage: {
    list: async ({ cloud, caller }) => (await cloud.catalogs.networks.listRouters(caller)).map(routerView),
    get: async ({ cloud, caller }, id) => routerView(await cloud.catalogs.networks.getRouter(caller, id)),
    create: async ({ cloud, caller }, body) =>
      routerView(await cloud.catalogs.networks.createRouter(caller, catalogFields(body))),
    update: async ({ cloud, caller }, { id }, change) =>
      routerView(await cloud.catalogs.networks.updateRouter(caller, id, catalogFields(change))),
    remove: async ({ cloud, caller }, { id }) => {
      await cloud.catalogs.networks.deleteRouter(caller, id);
      const helpers = cloud.documents.table<Doc>('network/conntrack_helpers');
      for (const helper of helpers.values()) if (helper.router_id === id) helpers.delete(helper.id);
    },
  },
};
