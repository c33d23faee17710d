import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { ResourceSpec } from '../service/resource.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { dictionary, integerBetween } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { invalid, invalidValue, notAllowed } from './network-style.js';
import { listPolicies } from './rbac-policies.js';

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
  router_route: 30,
};

/** The quota limits that administrators have set, by project ID and resource kind. */
const limits = ({ cloud }: Call) => cloud.documents.table<Record<string, number>>('network/limits');
const limitsOf = (call: Call, project: string): Readonly<Record<string, number>> => ({
  ...DEFAULTS,
  ...limits(call).get(project),
});

/** Functions that list the catalog's resources, by resource kind. Resources of other kinds are stored as documents. */
const LISTS: Readonly<Record<string, (call: Call, project: string) => Promise<readonly { projectId: string }[]>>> = {
  network: ({ cloud, caller }) => cloud.catalogs.networks.listNetworks(caller),
  subnet: ({ cloud, caller }) => cloud.catalogs.networks.listSubnets(caller),
  port: ({ cloud, caller }, projectId) => cloud.catalogs.networks.listPorts(caller, { projectId }),
  router: ({ cloud, caller }) => cloud.catalogs.networks.listRouters(caller),
  floatingip: ({ cloud, caller }) => cloud.catalogs.networks.listFloatingIps(caller),
  security_group: ({ cloud, caller }) => cloud.catalogs.networks.listSecurityGroups(caller),
  security_group_rule: ({ cloud, caller }) => cloud.catalogs.networks.listSecurityGroupRules(caller),
  rbac_policy: async (call) => (await listPolicies(call)).map(({ project_id }) => ({ projectId: String(project_id) })),
};

/** Returns the number of a project's resources of one kind. */
async function countUsed(call: Call, kind: string, project: string): Promise<number> {
  const list = LISTS[kind];
  if (list) return (await list(call, project)).filter(({ projectId }) => projectId === project).length;
  const many = kind.replace(/y$/, 'ie');
  return [...call.cloud.documents.table<Doc>(`network/${many}s`).values()].filter(
    ({ project_id }) => project_id === project,
  ).length;
}

/** Resources that are created with another resource: a new security group has a rule for each IP version. */
const CONTENTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  security_group: { security_group_rule: 2 },
};

const limitOf = (call: Call, project: string, kind: string) => limitsOf(call, project)[kind] ?? -1;

/** Throws `OverQuota` if a number of resources exceeds the project's limit. */
export function rejectExceeding(call: Call, project: string, kind: string, count: number): void {
  const limit = limitOf(call, project, kind);
  if (limit >= 0 && count > limit) throw networkError('OverQuota', `Quota exceeded for resources: ['${kind}'].`);
}

/** Extends a resource, so that create requests check the quota. Resource kinds without a quota stay unchanged. */
export function withQuota(spec: ResourceSpec): ResourceSpec {
  const { one, creating } = spec;
  if (!Object.hasOwn(DEFAULTS, one)) return spec;
  return {
    ...spec,
    async creating(call, doc, resource) {
      const project = String(doc.project_id);
      for (const [kind, added] of Object.entries({ [one]: 1, ...CONTENTS[one] }))
        if (limitOf(call, project, kind) >= 0)
          rejectExceeding(call, project, kind, (await countUsed(call, kind, project)) + added);
      return creating?.(call, doc, resource);
    },
  };
}

const Quota = z.object({ quota: dictionary });
/** The keys in a quota body that are not limits. */
const OPTIONS = new Set(['tenant_id', 'project_id', 'force', 'check_limit']);
const Limit = integerBetween(-1, 2 ** 31 - 1);

/** Returns the limits in a request. Throws a 400 error that names the unknown kinds, or the first invalid limit. */
function readLimits(call: Call): Readonly<Record<string, number>> {
  const given = Object.entries(call.body(Quota).quota).filter(([key]) => !OPTIONS.has(key));
  const unexpected = given.map(([kind]) => kind).filter((kind) => !Object.hasOwn(DEFAULTS, kind));
  if (unexpected.length > 0) throw invalid(`Unrecognized attribute(s) '${unexpected.join(', ')}'`);
  return Object.fromEntries(
    given.map(([kind, value]) => {
      const checked = Limit.safeParse(value);
      if (!checked.success) throw invalidValue(kind, value, checked.error.issues[0]?.message);
      return [kind, checked.data];
    }),
  );
}

/** Rejects limits below the current usage, unless the request sets `force`. */
async function rejectExceeded(call: Call, given: Readonly<Record<string, number>>): Promise<void> {
  if (call.body(Quota).quota.force === true) return;
  for (const [kind, limit] of Object.entries(given)) {
    if (limit < 0) continue;
    const used = await countUsed(call, kind, call.param('project'));
    if (used > limit)
      throw invalid(`Quota limit ${limit} for ${kind} must be greater than or equal to already used ${used}`);
  }
}

function requireAdmin({ isAdmin }: Call, verb: 'get' | 'update' | 'delete'): void {
  if (!isAdmin) throw notAllowed(`${verb}_quota`);
}

/** Returns the routes for project quotas, which administrators can set. */
export function quotaRoutes(): readonly Route[] {
  function project(call: Call): string {
    const id = call.param('project');
    if (id !== call.caller.projectId) requireAdmin(call, 'get');
    return id;
  }

  return [
    get('/v2.0/quotas', (call) => {
      requireAdmin(call, 'get');
      const resources = [...limits(call).keys()];
      return { quotas: resources.map((id) => ({ ...limitsOf(call, id), tenant_id: id, project_id: id })) };
    }),
    ...['tenant', 'project'].map((word) =>
      get(`/v2.0/quotas/${word}`, ({ caller: { projectId } }) => ({
        [word]: { [`${word}_id`]: projectId },
      })),
    ),
    get('/v2.0/quotas/:project', (call) => ({ quota: limitsOf(call, project(call)) })),
    get('/v2.0/quotas/:project/default', (call) => {
      project(call);
      return { quota: DEFAULTS };
    }),
    get('/v2.0/quotas/:project/details.json', details),
    get('/v2.0/quotas/:project/details', details),
    put('/v2.0/quotas/:project', async (call) => {
      requireAdmin(call, 'update');
      const id = call.param('project');
      const given = readLimits(call);
      await rejectExceeded(call, given);
      limits(call).set(id, { ...limits(call).get(id), ...given });
      return { quota: limitsOf(call, id) };
    }),
    del('/v2.0/quotas/:project', (call) => {
      requireAdmin(call, 'delete');
      const id = call.param('project');
      if (!limits(call).delete(id))
        throw networkError('TenantQuotaNotFound', `Quota for project ${id} could not be found.`);
      return noContent();
    }),
  ];

  async function details(call: Call) {
    const id = project(call);
    const entries = [];
    for (const [kind, limit] of Object.entries(limitsOf(call, id)))
      entries.push([kind, { limit, used: await countUsed(call, kind, id), reserved: 0 }]);
    return { quota: Object.fromEntries(entries) };
  }
}
