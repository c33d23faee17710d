import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest, conflict } from '../service/service-error.js';
import { anyId } from '../service/wire-types.js';
import { ownerFields } from './standard-fields.js';

/** The object types that can be shared, with the actions of each. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  network: ['access_as_shared', 'access_as_external'],
  qos_policy: ['access_as_shared'],
  security_group: ['access_as_shared'],
  address_scope: ['access_as_shared'],
  address_group: ['access_as_shared'],
  subnetpool: ['access_as_shared'],
};

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
    if (!KINDS[String(object_type)]?.includes(String(action)))
      throw badRequest(`Invalid action '${action}' for object type '${object_type}'.`, 'InvalidInput');
    const others = [...call.cloud.documents.table<Doc>('network/rbac_policies').values()];
    const same = others.some(
      (one) => one.object_id === object_id && one.target_tenant === target_tenant && one.action === action,
    );
    if (same) throw conflict('An RBAC policy already exists with those values.', 'DuplicateRbacPolicy');
    await applyToNetwork(call, policy as Doc, true);
  },
  removing: (call, policy) => applyToNetwork(call, policy, false),
};
