import type { QuotaScope, QuotaValues } from '@apistrata/compute-engine/api';
import { described, object, one, query } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../http/call.js';
import { requireKnownProject } from '../http/known-project.js';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { storableText } from '../schemas/storable-text.js';
import { lenientBoolean, quotaValue } from '../schemas/types.js';
import { changedQuotaSet, quotaSetBody, quotaSetDetail, quotasText, shownQuotaSet } from '../views/quota.js';

const quotaSetDocs = resource({ tag: 'quota-sets', parameters: { id: 'ID of the project.' } });

/** The query that selects the quotas of a user. Without a user, the request applies to the quotas of the project. */
const userQuery = query(
  {
    user_id: described(
      'ID of a user. If present, the request applies to the quotas of this user within the project.',
      one(storableText, 'first'),
    ),
  },
  { extra: rejectedSince275 },
);

const path = '/os-quota-sets/{id}';

/** Returns the project id in the path as the target for policy checks. */
const projectTarget = ({ params }: { readonly params: { readonly id: string } }) => ({ projectId: params.id });

/** Returns the project or user whose quotas the request applies to, after checking that the project exists. */
async function requireScope(
  call: ComputeCall & { readonly target: QuotaScope; readonly query: { readonly user_id?: string } },
): Promise<QuotaScope> {
  await requireKnownProject(call, call.target.projectId);
  return { projectId: call.target.projectId, userId: call.query.user_id || undefined };
}

/** Returns the quota limits in a request body, without the other keys. */
function limitsOf(body: Readonly<Record<string, unknown>>): Partial<QuotaValues> {
  const { force: _, networks: __, ...limits } = body;
  return limits as Partial<QuotaValues>;
}

export const quotaSetOperations = [
  operation({
    ...quotaSetDocs,
    name: 'showQuotaSet',
    method: 'GET',
    path,
    summary: 'Show the quotas of a project',
    description:
      'Shows the quotas of a project, or of a user in the project. Quotas that were never set have the default value.',
    policy: 'os_compute_api:os-quota-sets:show',
    status: 200,
    errors: [400],
    query: userQuery,
    target: projectTarget,
    reply: { quota_set: described(quotasText, shownQuotaSet) },
    run: async (call) => {
      const scope = await requireScope(call);
      return { quota_set: { id: scope.projectId, limits: await call.engine.quotas.limits(scope) } };
    },
  }),
  operation({
    ...quotaSetDocs,
    name: 'showQuotaSetDetail',
    method: 'GET',
    path: `${path}/detail`,
    summary: 'Show the quotas of a project with usage',
    description: 'Shows the quotas of a project, or of a user in the project, with the current usage.',
    policy: 'os_compute_api:os-quota-sets:detail',
    status: 200,
    errors: [400],
    query: userQuery,
    target: projectTarget,
    reply: { quota_set: described(quotasText, quotaSetDetail) },
    run: async (call) => {
      const scope = await requireScope(call);
      return { quota_set: { id: scope.projectId, ...(await call.engine.quotas.overview(scope)) } };
    },
  }),
  operation({
    ...quotaSetDocs,
    name: 'showQuotaSetDefaults',
    method: 'GET',
    path: `${path}/defaults`,
    summary: 'Show the default quotas',
    description: 'Shows the default quotas.',
    policy: 'os_compute_api:os-quota-sets:defaults',
    status: 200,
    errors: [400],
    query: query({}, { extra: 'ignore' }),
    target: projectTarget,
    reply: { quota_set: described(quotasText, shownQuotaSet) },
    run: async (call) => {
      await requireKnownProject(call, call.target.projectId);
      return { quota_set: { id: call.target.projectId, limits: await call.engine.quotas.defaults() } };
    },
  }),
  operation({
    ...quotaSetDocs,
    name: 'updateQuotaSet',
    method: 'PUT',
    path,
    summary: 'Update the quotas of a project or user',
    description:
      'Updates the quotas of a project, or of a user in the project. Unless `force` is true, a quota below the current usage is rejected, as are user quotas whose sum exceeds the quota of the project.',
    policy: 'os_compute_api:os-quota-sets:update',
    status: 200,
    errors: [400],
    when: {
      400: 'The request body is malformed, the project does not exist, a quota is below the current usage, or the sum of the quotas of the users in the project exceeds the quota of the project.',
    },
    query: userQuery,
    body: object({
      quota_set: described(
        quotasText,
        object({
          ...quotaSetBody(quotaValue.optional()),
          force: described(
            'Whether to accept quotas below the current usage, and quotas of users whose sum exceeds the quota of the project. Default: false.',
            lenientBoolean.optional(),
          ),
        }),
      ),
    }),
    target: projectTarget,
    reply: { quota_set: described(quotasText, changedQuotaSet) },
    run: async (call) => {
      const scope = await requireScope(call);
      const { quotas } = call.engine;
      const requested: Readonly<Record<string, unknown>> = call.body.quota_set;
      await quotas.set(scope, limitsOf(requested), { force: requested.force === true });
      return { quota_set: { id: scope.projectId, limits: await quotas.limits(scope) } };
    },
  }),
  operation({
    ...quotaSetDocs,
    name: 'deleteQuotaSet',
    method: 'DELETE',
    path,
    summary: 'Reset the quotas of a project or user',
    description:
      'Resets the quotas of a project and of all its users to the defaults. With `user_id`, resets only the quotas of this user, to those of the project.',
    policy: 'os_compute_api:os-quota-sets:delete',
    status: 202,
    query: userQuery,
    target: projectTarget,
    run: ({ engine, target, query: { user_id } }) =>
      engine.quotas.remove({ projectId: target.projectId, userId: user_id || undefined }),
  }),
];
