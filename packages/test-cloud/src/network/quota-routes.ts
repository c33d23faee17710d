import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { ResourceSpec } from '../service/resource.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { dictionary, integerBetween } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { invalidRequest, invalidValue, notAllowedError } from './network-style.js';
import { listPolicies } from './rbac-policies.js';

const DEFAULT_LIMITS: Readonly<Record<string, number>> = {
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
const limitTable = ({ cloud }: Call) => cloud.documents.table<Record<string, number>>('network/limits');
const limitsOf = (call: Call, project: string): Readonly<Record<string, number>> => ({
  ...DEFAULT_LIMITS,
  ...limitTable(call).get(project),
});

/** Functions that list the catalog's resources, by resource kind. Resources of other kinds are stored as documents. */
const LIST_FUNCTIONS: Readonly<
  Record<string, (call: Call, project: string) => Promise<readonly { projectId: string }[]>>
> = {
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
  const list = LIST_FUNCTIONS[kind];
  if (list) return (await list(call, project)).filter(({ projectId }) => projectId === project).length;
  const many = kind.replace(/y$/, 'ie');
  return [...call.cloud.documents.table<Doc>(`network/${many}s`).values()].filter(
    ({ project_id }) => project_id === project,
  ).length;
}

/** Resources that are created together with another resource: a new security group has one rule per IP version. */
const INCLUDED_RESOURCES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  security_group: { security_group_rule: 2 },
};

const limitOf = (call: Call, project: string, kind: string) => limitsOf(call, project)[kind] ?? -1;

/** Throws `OverQuota` if the number of resources exceeds the project's limit. */
export function rejectOverQuota(call: Call, project: string, kind: string, count: number): void {
  const limit = limitOf(call, project, kind);
  if (limit >= 0 && count > limit) throw networkError('OverQuota', `Quota exceeded for resources: ['${kind}'].`);
}

/** Extends a resource so that create requests check the quota. Resource kinds without a quota stay unchanged. */
export function withQuota(spec: ResourceSpec): ResourceSpec {
  const { one, creating } = spec;
  if (!Object.hasOwn(DEFAULT_LIMITS, one)) return spec;
  return {
    ...spec,
    async creating(call, doc, resource) {
      const project = String(doc.project_id);
      for (const [kind, added] of Object.entries({ [one]: 1, ...INCLUDED_RESOURCES[one] }))
        if (limitOf(call, project, kind) >= 0)
          rejectOverQuota(call, project, kind, (await countUsed(call, kind, project)) + added);
      return creating?.(call, doc, resource);
    },
  };
}

const QuotaBody = z.object({ quota: dictionary });
/** The keys in a quota body that are not limits. */
const OPTION_KEYS = new Set(['tenant_id', 'project_id', 'force', 'check_limit']);
const LimitValue = integerBetween(-1, 2 ** 31 - 1);

/** Returns the limits in a request. Throws a 400 error that names the unknown kinds, or the first invalid limit. */
function readLimits(call: Call): Readonly<Record<string, number>> {
  const newLimits = Object.entries(call.body(QuotaBody).quota).filter(([key]) => !OPTION_KEYS.has(key));
  const unexpected = newLimits.map(([kind]) => kind).filter((kind) => !Object.hasOwn(DEFAULT_LIMITS, kind));
  if (unexpected.length > 0) throw invalidRequest(`Unrecognized attribute(s) '${unexpected.join(', ')}'`);
  return Object.fromEntries(
    newLimits.map(([kind, value]) => {
      const checkedLimit = LimitValue.safeParse(value);
      if (!checkedLimit.success) throw invalidValue(kind, value, checkedLimit.error.issues[0]?.message);
      return [kind, checkedLimit.data];
    }),
  );
}

/** Rejects limits below the current usage, unless the request sets `force`. */
async function rejectBelowUsage(call: Call, newLimits: Readonly<Record<string, number>>): Promise<void> {
  if (call.body(QuotaBody).quota.force === true) return;
  for (const [kind, limit] of Object.entries(newLimits)) {
    if (limit < 0) continue;
    const usedCount = await countUsed(call, kind, call.param('project'));
    if (usedCount > limit)
      throw invalidRequest(
        `Quota limit ${limit} for ${kind} must be greater than or equal to already used ${usedCount}`,
      );
  }
}

function requireAdmin({ isAdmin }: Call, verb: 'update' | 'delete'): void {
  if (!isAdmin) throw notAllowedError(`${verb}_quota`);
}

/** Throws a 403 error unless the caller is an administrator or a project's manager. */
function requireManager(call: Call): void {
  if (!call.hasRole('manager')) throw notAllowedError('get_quota');
}

/** Returns whether the caller sees a project's limits and usage. */
const isVisible = ({ isAdmin, caller }: Call, project: string) => isAdmin || project === caller.projectId;

/** As in Neutron, managers of other projects see the default limits. */
const visibleLimits = (call: Call, project: string) =>
  isVisible(call, project) ? limitsOf(call, project) : DEFAULT_LIMITS;

/** Returns the routes for project quotas, which administrators can set. */
export function quotaRoutes(): readonly Route[] {
  function project(call: Call): string {
    const id = call.param('project');
    if (id !== call.caller.projectId) requireManager(call);
    return id;
  }

  return [
    get('/v2.0/quotas', (call) => {
      requireManager(call);
      const projectIds = [...limitTable(call).keys()].filter((id) => isVisible(call, id));
      return { quotas: projectIds.map((id) => ({ ...limitsOf(call, id), tenant_id: id, project_id: id })) };
    }),
    ...['tenant', 'project'].map((word) =>
      get(`/v2.0/quotas/${word}`, ({ caller: { projectId } }) => ({
        [word]: { [`${word}_id`]: projectId },
      })),
    ),
    get('/v2.0/quotas/:project', (call) => ({ quota: visibleLimits(call, project(call)) })),
    get('/v2.0/quotas/:project/default', (call) => {
      project(call);
      return { quota: DEFAULT_LIMITS };
    }),
    get('/v2.0/quotas/:project/details.json', showDetails),
    get('/v2.0/quotas/:project/details', showDetails),
    put('/v2.0/quotas/:project', async (call) => {
      requireAdmin(call, 'update');
      const id = call.param('project');
      const newLimits = readLimits(call);
      await rejectBelowUsage(call, newLimits);
      limitTable(call).set(id, { ...limitTable(call).get(id), ...newLimits });
      return { quota: limitsOf(call, id) };
    }),
    del('/v2.0/quotas/:project', (call) => {
      requireAdmin(call, 'delete');
      const id = call.param('project');
      if (!limitTable(call).delete(id))
        throw networkError('TenantQuotaNotFound', `Quota for project ${id} could not be found.`);
      return noContent();
    }),
  ];

  async function showDetails(call: Call) {
    const id = call.param('project');
    if (!isVisible(call, id)) throw notAllowedError('get_quota');
    const entries = [];
    for (const [kind, limit] of Object.entries(limitsOf(call, id)))
      entries.push([kind, { limit, used: await countUsed(call, kind, id), reserved: 0 }]);
    return { quota: Object.fromEntries(entries) };
  }
}
