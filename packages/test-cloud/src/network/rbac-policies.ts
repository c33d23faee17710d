import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest, conflict } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { anyId } from '../service/wire-types.js';
import { missingResource } from './network-errors.js';
import { notAllowed } from './network-style.js';
import { invalid } from './provider-attributes.js';
import { ownerFields } from './standard-fields.js';

/** The object types that can be shared, with the actions of each and the table of those that are documents. */
const KINDS: Readonly<Record<string, { readonly actions: readonly string[]; readonly table?: string }>> = {
  network: { actions: ['access_as_shared', 'access_as_external'] },
  qos_policy: { actions: ['access_as_shared'], table: 'policies' },
  security_group: { actions: ['access_as_shared'] },
  address_scope: { actions: ['access_as_shared'], table: 'address_scopes' },
  address_group: { actions: ['access_as_shared'], table: 'address_groups' },
  subnetpool: { actions: ['access_as_shared'], table: 'subnetpools' },
};

/** Returns the project of an object. @throws CatalogError or ServiceError if the caller cannot see it */
async function ownerOf({ cloud, caller }: Call, type: string, id: string): Promise<unknown> {
  const { networks } = cloud.catalogs;
  const table = KINDS[type]?.table;
  if (table === undefined)
    return (await (type === 'network' ? networks.getNetwork(caller, id) : networks.getSecurityGroup(caller, id)))
      .projectId;
  const object = cloud.documents.table<Doc>(`network/${table}`).get(id);
  if (!object) throw missingResource(type.replaceAll('_', ' '), id);
  return object.project_id;
}

/** Rejects a policy that its caller may not set: one for all projects, or one for an object of another project. */
async function authorizePolicy(call: Call, verb: 'create' | 'update', policy: Wire): Promise<void> {
  const { object_type, object_id, target_tenant } = policy;
  const owner = await ownerOf(call, String(object_type), String(object_id));
  if (call.isAdmin) return;
  if (target_tenant === '*') throw notAllowed(`${verb}_rbac_policy:target_tenant`);
  if (owner !== call.caller.projectId)
    throw invalid(
      `Only admins can manipulate policies on ${object_type === 'network' ? 'networks' : 'objects'} they do not own`,
    );
}

/** A network that is shared with all projects is a shared network, or an external one. */
async function applyToNetwork(call: Call, policy: Doc, on: boolean): Promise<void> {
  const { object_type, object_id, target_tenant, action } = policy;
  if (object_type !== 'network' || target_tenant !== '*') return;
  const change = action === 'access_as_shared' ? { shared: on } : { external: on };
  const elevated = { ...call.caller, isAdmin: true };
  await call.cloud.catalogs.networks.updateNetwork(elevated, String(object_id), change).catch((error) => {
    // The network may be deleted already.
    if (on) throw error;
  });
}

/** Policies that share resources of a project with others. */
export const rbacPolicies: ResourceSpec = {
  path: 'rbac-policies',
  one: 'rbac_policy',
  many: 'rbac_policies',
  title: 'RBAC policy',
  fields: () => ({
    ...ownerFields,
    object_type: required(fixed(z.enum(Object.keys(KINDS)))),
    object_id: required(fixed(anyId)),
    target_tenant: required(settable(anyId)),
    action: required(fixed(z.string())),
    created_at: { sets: 'never', hidden: true },
    updated_at: { sets: 'never', hidden: true },
    revision_number: { sets: 'never', hidden: true },
  }),
  async creating(call, policy) {
    const { object_type, object_id, target_tenant, action } = policy;
    if (!KINDS[String(object_type)]?.actions.includes(String(action)))
      throw badRequest(`Invalid action '${action}' for object type '${object_type}'.`, 'InvalidInput');
    await authorizePolicy(call, 'create', policy);
    const others = [...call.cloud.documents.table<Doc>('network/rbac_policies').values()];
    const same = others.some(
      (one) => one.object_id === object_id && one.target_tenant === target_tenant && one.action === action,
    );
    if (same) throw conflict('An RBAC policy already exists with those values.', 'DuplicateRbacPolicy');
    await applyToNetwork(call, policy as Doc, true);
  },
  async changing(call, before, change) {
    const after = { ...before, ...change };
    await authorizePolicy(call, 'update', after);
    await applyToNetwork(call, before, false);
    await applyToNetwork(call, after, true);
  },
  removing: (call, policy) => applyToNetwork(call, policy, false),
};
