import type { Caller } from '../../caller/caller.js';
import { isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type {
  NewSecurityGroupRule,
  SecurityGroup,
  SecurityGroupName,
  SecurityGroupQuery,
  SecurityGroupRule,
} from '../network-catalog.js';
import { canAccess, type NetworkClient, projectIdOf, readGroup, readRule } from './network-client.js';

const groupErrors = { 404: 'SECURITY_GROUP_NOT_FOUND', 409: 'SECURITY_GROUP_IN_USE' } as const;
const ruleErrors = {
  404: 'SECURITY_GROUP_RULE_NOT_FOUND',
  409: 'SECURITY_GROUP_RULE_EXISTS',
  400: 'SECURITY_GROUP_RULE_INVALID',
} as const;

function groupNotFound(nameOrId: string): CatalogError {
  return new CatalogError('SECURITY_GROUP_NOT_FOUND', `Security group ${nameOrId} could not be found.`);
}

/** Queries the project's security groups once. Returns a function that finds one of them by id or name. */
async function createGroupFinder(
  client: NetworkClient,
  caller: Caller,
): Promise<(nameOrId: string) => SecurityGroupName> {
  const query = { tenant_id: caller.projectId, fields: ['id', 'name'] };
  const groups = await client.list(caller, 'security-groups', query);
  return (nameOrId) => {
    const byId = groups.filter((group) => group.id === nameOrId);
    const [group, ...others] = byId.length > 0 ? byId : groups.filter(({ name }) => name === nameOrId);
    if (others.length > 0)
      throw new CatalogError(
        'SECURITY_GROUP_AMBIGUOUS',
        `Multiple security groups found matching '${nameOrId}'. Use an ID to be more specific.`,
      );
    if (!group) throw groupNotFound(nameOrId);
    return { id: group.id, name: group.name };
  };
}

/** Finds a security group of the caller's project by id or name. */
export async function findGroup(client: NetworkClient, caller: Caller, nameOrId: string): Promise<SecurityGroupName> {
  return (await createGroupFinder(client, caller))(nameOrId);
}

/**
 * Returns a function that finds several security groups of the caller's project by id or name, with a single request.
 */
export function createGroupResolver(client: NetworkClient) {
  return async (caller: Caller, namesOrIds: readonly string[]): Promise<SecurityGroupName[]> =>
    namesOrIds.length === 0 ? [] : namesOrIds.map(await createGroupFinder(client, caller));
}

/** Creates the security group operations of the HTTP network catalog. */
export function httpSecurityGroups(client: NetworkClient) {
  const path = (id: string) => `/security-groups/${encodeURIComponent(id)}`;

  async function getSecurityGroup(caller: Caller, id: string): Promise<SecurityGroup> {
    const group = readGroup((await client.send(caller, 'GET', path(id), undefined, groupErrors)).security_group);
    if (!canAccess(caller, group.projectId)) throw groupNotFound(id);
    return group;
  }

  return {
    getSecurityGroup,

    async listSecurityGroups(caller: Caller, query: SecurityGroupQuery = {}): Promise<readonly SecurityGroup[]> {
      const tenant_id = isAdmin(caller) ? query.projectId : caller.projectId;
      const rest = { tenant_id, name: query.name };
      const groups = query.ids
        ? await client.listAny(caller, 'security-groups', 'id', query.ids, rest)
        : await client.list(caller, 'security-groups', rest);
      return groups.map(readGroup);
    },

    async createSecurityGroup(
      caller: Caller,
      { name, description = '' }: { readonly name: string; readonly description?: string },
    ): Promise<SecurityGroup> {
      const json = { security_group: { name, description, tenant_id: caller.projectId } };
      const errors = { 400: 'SECURITY_GROUP_INVALID', 409: 'SECURITY_GROUP_INVALID' } as const;
      return readGroup((await client.send(caller, 'POST', '/security-groups', json, errors)).security_group);
    },

    async updateSecurityGroup(
      caller: Caller,
      id: string,
      change: { readonly name?: string; readonly description?: string },
    ): Promise<SecurityGroup> {
      await getSecurityGroup(caller, id);
      const errors = { ...groupErrors, 400: 'SECURITY_GROUP_INVALID' } as const;
      return readGroup((await client.send(caller, 'PUT', path(id), { security_group: change }, errors)).security_group);
    },

    async deleteSecurityGroup(caller: Caller, id: string): Promise<void> {
      const { name } = await getSecurityGroup(caller, id);
      // The service accepts this deletion with the engine's token, but rejects it for project members.
      if (name === 'default' && caller.token === undefined && !isAdmin(caller))
        throw new CatalogError('SECURITY_GROUP_IN_USE', 'Removing the default security group is not allowed.');
      await client.send(caller, 'DELETE', path(id), undefined, groupErrors);
    },

    async createSecurityGroupRule(caller: Caller, rule: NewSecurityGroupRule): Promise<SecurityGroupRule> {
      const group = await getSecurityGroup(caller, rule.securityGroupId);
      const security_group_rule = {
        tenant_id: group.projectId,
        security_group_id: rule.securityGroupId,
        direction: rule.direction,
        ethertype: rule.ethertype ?? (rule.remoteCidr?.includes(':') ? 'IPv6' : 'IPv4'),
        protocol: rule.protocol ?? null,
        port_range_min: rule.portMin ?? null,
        port_range_max: rule.portMax ?? null,
        remote_ip_prefix: rule.remoteCidr ?? null,
        remote_group_id: rule.remoteGroupId ?? null,
        description: rule.description ?? '',
      };
      const errors = { ...ruleErrors, 404: 'SECURITY_GROUP_NOT_FOUND' } as const;
      const body = await client.send(caller, 'POST', '/security-group-rules', { security_group_rule }, errors);
      return readRule(body.security_group_rule);
    },

    async deleteSecurityGroupRule(caller: Caller, id: string): Promise<void> {
      const rulePath = `/security-group-rules/${encodeURIComponent(id)}`;
      const { security_group_rule: rule } = await client.send(caller, 'GET', rulePath, undefined, ruleErrors);
      if (!canAccess(caller, projectIdOf(rule)))
        throw new CatalogError('SECURITY_GROUP_RULE_NOT_FOUND', `Security group rule ${id} does not exist`);
      await client.send(caller, 'DELETE', rulePath, undefined, ruleErrors);
    },
  };
}
