import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { ifMissing } from '../service/if-missing.js';
import type { ServiceError } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { networkError } from './network-errors.js';
import { EVERY_PROJECT, SHAREABLE_TYPES } from './sharing.js';

type ObjectUser = { readonly what: string; readonly projectId: string };

/** Defines how to find an object's users, and which project keeps access when an RBAC policy is removed. */
interface UserFinder {
  readonly find: (call: Call, id: string) => Promise<readonly ObjectUser[]>;
  readonly exempt: 'the owner' | 'the new target' | 'none';
}

/** Returns the users of a shared network: its ports, except those of the network service. */
async function portUsers(call: Call, networkId: string): Promise<readonly ObjectUser[]> {
  const ports = await call.cloud.catalogs.networks.listPorts(call.elevatedCaller, { networkId });
  return ports
    .filter(({ deviceOwner }) => !deviceOwner.startsWith('network:'))
    .map(({ id, projectId }) => ({ what: `port ${id}`, projectId }));
}

/** Returns the users of an external network: the routers with a gateway to this network. */
async function routerUsers(call: Call, networkId: string): Promise<readonly ObjectUser[]> {
  const routers = await call.cloud.catalogs.networks.listRouters(call.elevatedCaller);
  return routers
    .filter(({ externalNetworkId }) => externalNetworkId === networkId)
    .map(({ id, projectId }) => ({ what: `router ${id}`, projectId }));
}

/** Returns the users of a QoS policy: networks and ports. */
export async function usersOfQosPolicy(call: Call, policyId: string): Promise<readonly ObjectUser[]> {
  const { networks } = call.cloud.catalogs;
  const users: ObjectUser[] = [];
  const readers = {
    networks: (id: string) => networks.getNetwork(call.elevatedCaller, id).catch(ifMissing),
    ports: (id: string) => networks.getPort(call.elevatedCaller, id).catch(ifMissing),
  };
  for (const many of ['networks', 'ports'] as const)
    for (const [id, { qos_policy_id }] of call.cloud.documents.table<Doc>(`network/${many}`)) {
      const user = qos_policy_id === policyId ? await readers[many](id) : undefined;
      if (user) users.push({ what: `${many.slice(0, -1)} ${id}`, projectId: user.projectId });
    }
  return users;
}

/** Returns the users of an address scope: its subnet pools. */
export async function usersOfAddressScope({ cloud }: Call, scopeId: string): Promise<readonly ObjectUser[]> {
  return [...cloud.documents.table<Doc>('network/subnetpools').values()]
    .filter(({ address_scope_id }) => address_scope_id === scopeId)
    .map(({ id, project_id }) => ({ what: `subnet pool ${id}`, projectId: String(project_id) }));
}

/** Returns the users of a subnet pool: the subnets with a prefix from it. */
export async function usersOfSubnetPool(call: Call, poolId: string): Promise<readonly ObjectUser[]> {
  const subnetFields = call.cloud.documents.table<Wire>('network/subnets');
  const subnets = await call.cloud.catalogs.networks.listSubnets(call.elevatedCaller);
  return subnets
    .filter(({ id }) => subnetFields.get(id)?.subnetpool_id === poolId)
    .map(({ id, projectId }) => ({ what: `subnet ${id}`, projectId }));
}

/** Returns the users of an address group: security group rules. */
export async function usersOfAddressGroup(call: Call, groupId: string): Promise<readonly ObjectUser[]> {
  const ruleFields = call.cloud.documents.table<Wire>('network/security_group_rules');
  const rules = await call.cloud.catalogs.networks.listSecurityGroupRules(call.elevatedCaller);
  return rules
    .filter(({ id }) => ruleFields.get(id)?.remote_address_group_id === groupId)
    .map(({ id, projectId }) => ({ what: `security group rule ${id}`, projectId }));
}

const USER_FINDERS: Readonly<Record<string, UserFinder>> = {
  'network/access_as_shared': { find: portUsers, exempt: 'the owner' },
  'network/access_as_external': { find: routerUsers, exempt: 'the new target' },
  'qos_policy/access_as_shared': { find: usersOfQosPolicy, exempt: 'none' },
  'address_scope/access_as_shared': { find: usersOfAddressScope, exempt: 'none' },
  'subnetpool/access_as_shared': { find: usersOfSubnetPool, exempt: 'none' },
  'address_group/access_as_shared': { find: usersOfAddressGroup, exempt: 'none' },
};

function policyInUseError(id: string, details: string): ServiceError {
  return networkError(
    'RbacPolicyInUse',
    `RBAC policy on object ${id} cannot be removed because other objects depend on it.\nDetails: ${details}`,
  );
}

/**
 * Throws `RbacPolicyInUse` if a project uses the object and would lose access without the RBAC policy.
 * @param newTarget the policy's target project after the change; omitted if the policy is deleted
 */
export async function rejectUsedGrant(call: Call, policy: Wire, newTarget?: string): Promise<undefined> {
  const { object_type, action, target_tenant } = policy;
  const users = USER_FINDERS[`${object_type}/${action}`];
  const id = String(policy.object_id);
  const object = await SHAREABLE_TYPES[String(object_type)]?.get(call, id);
  if (!users || !object) return;
  // An owner does not need a policy to use the object.
  if (users.exempt === 'none' && target_tenant === object.projectId) return;
  const remainingTargets = new Set((object.grants[String(action)] ?? []).filter((one) => one !== target_tenant));
  if (remainingTargets.has(EVERY_PROJECT)) return;
  if (object.mustBeOffered?.includes(String(action)) && target_tenant === EVERY_PROJECT)
    throw policyInUseError(id, 'Default external networks must be shared to everyone.');
  if (users.exempt === 'the owner') remainingTargets.add(object.projectId);
  if (users.exempt === 'the new target' && newTarget !== undefined) remainingTargets.add(newTarget);
  const losesAccess = ({ projectId }: ObjectUser) =>
    !remainingTargets.has(projectId) && (target_tenant === EVERY_PROJECT || target_tenant === projectId);
  const user = (await users.find(call, id)).find(losesAccess);
  if (user) throw policyInUseError(id, `${user.what} of project ${user.projectId} uses it.`);
}
