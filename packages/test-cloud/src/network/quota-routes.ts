import type { EmbeddedCatalogs } from '@apistrata/compute-engine';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, put, type Route } from '../service/route.js';

const DEFAULTS: Readonly<Record<string, number>> = {
  network: 100,
  subnet: 100,
  subnetpool: -1,
  port: 500,
  router: 10,
  floatingip: 50,
  security_group: 10,
  security_group_rule: 100,
  rbac_policy: 10,
};

const Quota = z.object({ quota: z.record(z.string(), z.union([z.number().int().min(-1), z.unknown()])) });

/** Limits of projects: remembered and shown; this service refuses nobody over them. */
export function quotaRoutes(
  networks: () => EmbeddedCatalogs['networks'],
  limits: Map<string, Record<string, number>>,
): readonly Route[] {
  const limitsOf = (project: string) => ({ ...DEFAULTS, ...limits.get(project) });

  async function usage(call: Call, project: string): Promise<Readonly<Record<string, number>>> {
    const { caller } = call;
    const count = async (list: Promise<readonly { readonly projectId: string }[]>) =>
      (await list).filter(({ projectId }) => projectId === project).length;
    return {
      network: await count(networks().listNetworks(caller)),
      subnet: await count(networks().listSubnets(caller)),
      port: await count(networks().listPorts(caller, { projectId: project })),
      router: await count(networks().listRouters(caller)),
      floatingip: await count(networks().listFloatingIps(caller)),
      security_group: await count(networks().listSecurityGroups(caller)),
      security_group_rule: await count(networks().listSecurityGroupRules(caller)),
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
      return { quotas: [...limits.keys()].map((id) => ({ ...limitsOf(id), tenant_id: id, project_id: id })) };
    }),
    get('/v2.0/quotas/:project', (call) => ({ quota: limitsOf(project(call)) })),
    get('/v2.0/quotas/:project/default', () => ({ quota: DEFAULTS })),
    get('/v2.0/quotas/:project/details.json', async (call) => details(call)),
    get('/v2.0/quotas/:project/details', async (call) => details(call)),
    put('/v2.0/quotas/:project', (call) => {
      call.requireAdmin();
      const given = Object.entries(call.body(Quota).quota).filter(([kind]) => kind in DEFAULTS);
      limits.set(call.param('project'), {
        ...limits.get(call.param('project')),
        ...(Object.fromEntries(given) as Record<string, number>),
      });
      return { quota: limitsOf(call.param('project')) };
    }),
    del('/v2.0/quotas/:project', (call) => {
      call.requireAdmin();
      limits.delete(call.param('project'));
      return noContent();
    }),
  ];

  async function details(call: Call) {
    const id = project(call);
    const used = await usage(call, id);
    return {
      quota: Object.fromEntries(
        Object.entries(limitsOf(id)).map(([kind, limit]) => [kind, { limit, used: used[kind] ?? 0, reserved: 0 }]),
      ),
    };
  }
}
