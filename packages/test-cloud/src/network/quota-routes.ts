import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { wholeBetween } from '../service/wire-types.js';

const DEFAULTS: Readonly<Record<string, number>> = {
  network: 100,
  subnet: 100,
  subnetpool: -1,
  port: 500,
  router: 10,
  floatingip: 50,
  security_group: 10,
  security_group_rule: 100,
  trunk: -1,
  rbac_policy: 10,
};

const Quota = z.object({ quota: z.record(z.string(), z.union([wholeBetween(-1, 2 ** 31 - 1), z.string()])) });

/** Limits of projects: remembered and shown; this service refuses nobody over them. */
export function quotaRoutes(): readonly Route[] {
  const limits = ({ cloud }: Call) => cloud.documents.table<Record<string, number>>('network/limits');
  const limitsOf = (call: Call, project: string) => ({ ...DEFAULTS, ...limits(call).get(project) });

  async function usage(call: Call, project: string): Promise<Readonly<Record<string, number>>> {
    const { caller } = call;
    const { networks } = call.cloud.catalogs;
    const count = async (list: Promise<readonly { readonly projectId: string }[]>) =>
      (await list).filter(({ projectId }) => projectId === project).length;
    return {
      network: await count(networks.listNetworks(caller)),
      subnet: await count(networks.listSubnets(caller)),
      port: await count(networks.listPorts(caller, { projectId: project })),
      router: await count(networks.listRouters(caller)),
      floatingip: await count(networks.listFloatingIps(caller)),
      security_group: await count(networks.listSecurityGroups(caller)),
      security_group_rule: await count(networks.listSecurityGroupRules(caller)),
    };
  }

  function project(call: Call): string {
    const id = call.param('project');
    if (id !== call.caller.projectId) call.requireAdmin();
    return id;
  }

  return [
    get('/v2.0/quotas', (call) => {
      call.requireAdmin();
      const known = [...limits(call).keys()];
      return { quotas: known.map((id) => ({ ...limitsOf(call, id), tenant_id: id, project_id: id })) };
    }),
    ...['tenant', 'project'].map((word) =>
      get(`/v2.0/quotas/${word}`, ({ caller: { projectId } }) => ({
        [word]: { tenant_id: projectId, project_id: projectId },
      })),
    ),
    get('/v2.0/quotas/:project', (call) => ({ quota: limitsOf(call, project(call)) })),
    get('/v2.0/quotas/:project/default', () => ({ quota: DEFAULTS })),
    get('/v2.0/quotas/:project/details.json', details),
    get('/v2.0/quotas/:project/details', details),
    put('/v2.0/quotas/:project', (call) => {
      call.requireAdmin();
      const id = call.param('project');
      const { quota } = call.body(Quota);
      const { tenant_id: _, project_id: __, ...given } = quota as Record<string, unknown>;
      const stray = Object.keys(given).filter((kind) => !Object.hasOwn(DEFAULTS, kind));
      if (stray.length > 0) throw badRequest(`Unrecognized attribute(s) '${stray.join(', ')}'`, 'HTTPBadRequest');
      limits(call).set(id, { ...limits(call).get(id), ...(given as Record<string, number>) });
      return { quota: limitsOf(call, id) };
    }),
    del('/v2.0/quotas/:project', (call) => {
      call.requireAdmin();
      limits(call).delete(call.param('project'));
      return noContent();
    }),
  ];

  async function details(call: Call) {
    const id = project(call);
    const used = await usage(call, id);
    return {
      quota: Object.fromEntries(
        Object.entries(limitsOf(call, id)).map(([kind, limit]) => [
          kind,
          { limit, used: used[kind] ?? 0, reserved: 0 },
        ]),
      ),
    };
  }
}
