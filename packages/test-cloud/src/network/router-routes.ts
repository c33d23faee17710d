import type { EmbeddedCatalogs, PortView, RouterFields } from '@apistrata/compute-engine';
import type { Call } from '../service/call.js';
import { put, type Route } from '../service/route.js';
import { envelope, FLOATING_IP, ROUTER, RouterInterface } from './network-bodies.js';
import { floatingIpView, routerView } from './network-views.js';
import { renamed } from './renamed.js';
import { resource } from './resource.js';

type Networks = () => EmbeddedCatalogs['networks'];

interface RouterBody extends Readonly<Record<string, unknown>> {
  readonly external_gateway_info?: { readonly network_id?: string | null; readonly enable_snat?: boolean } | null;
}

function fieldsOf(body: RouterBody): RouterFields {
  const { external_gateway_info: gateway } = body;
  return {
    ...renamed<RouterFields>(body),
    ...(gateway !== undefined && {
      externalNetworkId: gateway?.network_id ?? null,
      enableSnat: gateway?.enable_snat ?? true,
    }),
  };
}

/** Routers and floating addresses: what connects networks to the world outside. */
export function routerRoutes(networks: Networks): readonly Route[] {
  const interfaceOf = (call: Call) => {
    const at = call.body(RouterInterface);
    return 'subnet_id' in at ? { subnetId: at.subnet_id } : { portId: at.port_id };
  };
  const interfaceView = (call: Call, port: PortView) => ({
    id: call.param('id'),
    tenant_id: port.projectId,
    project_id: port.projectId,
    port_id: port.id,
    network_id: port.networkId,
    subnet_id: port.fixedIps[0]?.subnetId,
    subnet_ids: port.fixedIps.map(({ subnetId }) => subnetId),
  });

  /** The router that leads from the port's network to where the floating address is. */
  async function floatingView(call: Call, floating: Awaited<ReturnType<ReturnType<Networks>['getFloatingIp']>>) {
    if (!floating.portId) return floatingIpView(floating, null);
    const { networkId } = await networks().getPort(call.caller, floating.portId);
    const ports = await networks().listPorts(call.caller, { networkId });
    const router = ports.find(({ deviceOwner }) => deviceOwner === 'network:router_interface');
    return floatingIpView(floating, router?.deviceId ?? null);
  }

  async function lead(call: Call, id: string, body: Readonly<Record<string, unknown>>) {
    if (typeof body.port_id === 'string') {
      const fixedAddress = (body.fixed_ip_address as string | null | undefined) ?? undefined;
      await networks().associateFloatingIp(call.caller, id, { portId: body.port_id, fixedAddress });
    } else if ('port_id' in body) await networks().disassociateFloatingIp(call.caller, id);
    return floatingView(call, await networks().getFloatingIp(call.caller, id));
  }

  return [
    put('/v2.0/routers/:id/add_router_interface', async (call) =>
      interfaceView(call, await networks().addRouterInterface(call.caller, call.param('id'), interfaceOf(call))),
    ),
    put('/v2.0/routers/:id/remove_router_interface', async (call) =>
      interfaceView(call, await networks().removeRouterInterface(call.caller, call.param('id'), interfaceOf(call))),
    ),
    ...resource({
      path: 'routers',
      many: 'routers',
      one: 'router',
      body: envelope('router', ROUTER),
      change: envelope('router', ROUTER),
      list: async ({ caller }) => (await networks().listRouters(caller)).map(routerView),
      show: async ({ caller }, id) => routerView(await networks().getRouter(caller, id)),
      create: async ({ caller }, body) => routerView(await networks().createRouter(caller, fieldsOf(body))),
      update: async ({ caller }, id, body) => routerView(await networks().updateRouter(caller, id, fieldsOf(body))),
      remove: ({ caller }, id) => networks().deleteRouter(caller, id),
      setTags: ({ caller }, id, tags) => networks().updateRouter(caller, id, { tags }),
    }),
    ...resource({
      path: 'floatingips',
      many: 'floatingips',
      one: 'floatingip',
      body: envelope('floatingip', FLOATING_IP),
      change: envelope('floatingip', FLOATING_IP),
      list: async (call) => {
        const found = await networks().listFloatingIps(call.caller);
        return Promise.all(found.map((floating) => floatingView(call, floating)));
      },
      show: async (call, id) => floatingView(call, await networks().getFloatingIp(call.caller, id)),
      create: async (call, body) => {
        const floating = await networks().createFloatingIp(call.caller, {
          pool: body.floating_network_id,
          address: body.floating_ip_address ?? undefined,
          subnetId: body.subnet_id ?? undefined,
          projectId: body.project_id ?? body.tenant_id,
          description: body.description,
        });
        return body.port_id ? lead(call, floating.id, body) : floatingView(call, floating);
      },
      update: async (call, id, body) => {
        if (body.description !== undefined)
          await networks().updateFloatingIp(call.caller, id, { description: body.description });
        return lead(call, id, body);
      },
      remove: ({ caller }, id) => networks().releaseFloatingIp(caller, id),
      setTags: ({ caller }, id, tags) => networks().updateFloatingIp(caller, id, { tags }),
    }),
  ];
}
