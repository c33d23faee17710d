import { z } from 'zod';
import { stableUuid } from '../identity/new-id.js';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { type Fields, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { runSerially } from '../service/serialized.js';
import { badRequest, conflict } from '../service/service-error.js';
import type { Storage } from '../service/storage.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { notAllowedError } from './network-style.js';
import { invalidInputError } from './provider-attributes.js';
import { EVERY_PROJECT, type Grants, SHAREABLE_TYPES, type Shareable, type SharedObject } from './sharing.js';
import { rejectUsedGrant } from './sharing-users.js';
import { hiddenStamps, ownerFields } from './standard-fields.js';
import { uuid } from './value-types.js';

/** An RBAC policy, which grants one project or all projects access to an object. */
interface Policy extends Doc {
  readonly object_type: string;
  readonly object_id: string;
  readonly action: string;
  readonly target_tenant: string;
}

/** The RBAC policies that clients have created. The policies of objects that were created as shared are not stored. */
const policyTable = ({ cloud }: Call) => cloud.documents.table<Doc>('network/rbac_policies');
const policyKey = ({ object_id, action, target_tenant }: Wire) => `${object_id}/${action}/${target_tenant}`;

function shareableOf(type: string): Shareable {
  const kind = SHAREABLE_TYPES[type];
  if (!kind) throw invalidInputError(`'${type}' is not a valid RBAC object type`);
  return kind;
}

/** Returns the RBAC policies that share an object. */
function policiesOf(object_type: string, { id, projectId, grants }: SharedObject): readonly Policy[] {
  return Object.entries(grants).flatMap(([action, targets]) =>
    targets.map((target_tenant) => {
      const policy = { object_type, object_id: id, action, target_tenant };
      return { ...policy, id: stableUuid('rbac', policyKey(policy)), project_id: projectId, tenant_id: projectId };
    }),
  );
}

/** Returns the grants after removing the target `before` and adding the target `after`; either may be undefined. */
function replaceTarget(grants: Grants, action: string, before: string | undefined, after: string | undefined): Grants {
  const otherTargets = (grants[action] ?? []).filter((target) => target !== before);
  return { ...grants, [action]: after === undefined ? otherTargets : [...otherTargets, after] };
}

function changeGrant(call: Call, policy: Wire, before: string | undefined, after: string | undefined): Promise<void> {
  const kind = shareableOf(String(policy.object_type));
  const id = String(policy.object_id);
  return runSerially(call.cloud, [`grants/${id}`], async () => {
    const { grants } = await kind.get(call, id);
    await kind.set(call, id, replaceTarget(grants, String(policy.action), before, after));
  });
}

/** Returns the RBAC policies that the caller may see. Removes the stored policies of deleted objects. */
export async function listPolicies(call: Call): Promise<readonly Doc[]> {
  const storedPolicies = new Map([...policyTable(call).values()].map((doc) => [policyKey(doc), doc]));
  const allPolicies = [];
  for (const [type, kind] of Object.entries(SHAREABLE_TYPES))
    for (const object of await kind.list(call))
      for (const policy of policiesOf(type, object)) {
        allPolicies.push(storedPolicies.get(policyKey(policy)) ?? policy);
        storedPolicies.delete(policyKey(policy));
      }
  for (const { id } of storedPolicies.values()) policyTable(call).delete(id);
  return call.isAdmin ? allPolicies : allPolicies.filter(({ project_id }) => project_id === call.caller.projectId);
}

const storage: Storage = {
  list: listPolicies,
  get: async (call, id) => (await listPolicies(call)).find((policy) => policy.id === id),
  async create(call, newPolicy) {
    const { object_type, object_id, action, target_tenant, project_id } = newPolicy;
    await changeGrant(call, newPolicy, undefined, String(target_tenant));
    const policy = { object_type, object_id, action, target_tenant };
    const doc = { ...policy, id: stableUuid('rbac', policyKey(policy)), project_id, tenant_id: project_id };
    policyTable(call).set(doc.id, doc);
    return doc;
  },
  async update(call, before, { target_tenant = before.target_tenant }) {
    await changeGrant(call, before, String(before.target_tenant), String(target_tenant));
    const doc = { ...before, target_tenant };
    policyTable(call).set(doc.id, doc);
    return doc;
  },
  async remove(call, policy) {
    await changeGrant(call, policy, String(policy.target_tenant), undefined);
    policyTable(call).delete(policy.id);
  },
};

/** Rejects an RBAC policy that is invalid, that the caller may not set, or that already exists. */
async function checkPolicy(call: Call, verb: 'create' | 'update', policy: Wire): Promise<void> {
  const { object_type, object_id, action, target_tenant } = policy;
  const kind = shareableOf(String(object_type));
  if (!kind.actions.includes(String(action)))
    throw badRequest(`Invalid action '${action}' for object type '${object_type}'.`, 'InvalidInput');
  if (kind.isRecorded && !call.cloud.simulated)
    throw networkError('HTTPNotImplemented', `RBAC policies of the type ${object_type} have no effect in this cloud.`);
  const { projectId, grants } = await kind.get(call, String(object_id));
  if (!call.isAdmin && target_tenant === EVERY_PROJECT) throw notAllowedError(`${verb}_rbac_policy:target_tenant`);
  if (!call.isAdmin && projectId !== call.caller.projectId)
    throw invalidInputError(
      `Only admins can manipulate policies on ${object_type === 'network' ? 'networks' : 'objects'} they do not own`,
    );
  if (grants[String(action)]?.includes(String(target_tenant)))
    throw conflict('An RBAC policy already exists with those values.', 'DuplicateRbacPolicy');
}

/** Rejects sharing a subnet pool with a project that cannot use the pool's address scope. */
async function requireScopeAccess(call: Call, { object_id, target_tenant }: Wire): Promise<void> {
  const pool = call.cloud.documents.table<Doc>('network/subnetpools').get(String(object_id));
  if (!pool?.address_scope_id) return;
  const scope = await shareableOf('address_scope').get(call, String(pool.address_scope_id));
  const targets = scope.grants.access_as_shared ?? [];
  if (!targets.includes(EVERY_PROJECT) && !targets.includes(String(target_tenant)))
    throw invalidInputError(
      `Failed to create RBAC policy on object ${object_id} because target project doesn't have access to associated address scope`,
    );
}

/** Returns the fields with sorting disabled; lists can still be filtered by them. */
const withoutSorting = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, { filter: 'only', ...field }]));

/** RBAC policies, which share a project's objects with other projects. */
export const rbacPolicies: ResourceSpec = {
  path: 'rbac-policies',
  one: 'rbac_policy',
  many: 'rbac_policies',
  title: 'RBAC policy',
  fields: () =>
    withoutSorting({
      ...ownerFields,
      object_type: required(fixed(z.enum(Object.keys(SHAREABLE_TYPES)))),
      object_id: required(fixed(uuid)),
      target_tenant: required(
        settable(z.union([z.literal(EVERY_PROJECT), uuid], "is not a valid target project ID; expected a UUID or '*'")),
      ),
      action: required(fixed(text)),
      ...hiddenStamps,
    }),
  async creating(call, policy) {
    await checkPolicy(call, 'create', policy);
    if (policy.object_type === 'subnetpool') await requireScopeAccess(call, policy);
    return undefined;
  },
  async changing(call, before, { target_tenant }) {
    if (target_tenant === undefined || target_tenant === before.target_tenant) return;
    await checkPolicy(call, 'update', { ...before, target_tenant });
    if (target_tenant !== EVERY_PROJECT) await rejectUsedGrant(call, before, String(target_tenant));
  },
  removing: (call, policy) => rejectUsedGrant(call, policy),
  storage,
};
