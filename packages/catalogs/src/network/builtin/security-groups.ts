import { randomUUID } from 'node:crypto';
import { retryOnUniqueViolation, type Tx } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import { hasItem, rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { SecurityGroup, SecurityGroupName, SecurityGroupQuery } from '../network-catalog.js';
import { initialFields, type NetworkContext } from './network-context.js';
import { networkTables, type SecurityGroupRecord } from './network-tables.js';
import { toRule } from './security-group-rules.js';

const { securityGroups: groups, rules, ports } = networkTables;

/** A security group as returned in responses, with its rules. */
export type SecurityGroupView = SecurityGroupRecord & SecurityGroup;

/** The name of the security group that every project has. */
const DEFAULT_GROUP_NAME = 'default';

function groupNotFound(nameOrId: string): CatalogError {
  return new CatalogError('SECURITY_GROUP_NOT_FOUND', `Security group ${nameOrId} could not be found.`);
}

async function insertGroup(
  tx: Tx,
  group: Pick<SecurityGroupRecord, 'id' | 'name' | 'projectId'> & { readonly description?: string },
  now: number,
): Promise<SecurityGroupRecord> {
  const record = await groups.insert(tx, { ...initialFields(now), ...group, description: group.description ?? '' });
  const all = { protocol: null, portMin: null, portMax: null, remoteCidr: null, description: '' };
  const isDefaultGroup = record.name === DEFAULT_GROUP_NAME;
  for (const ethertype of ['IPv4', 'IPv6'] as const) {
    const rule = { ...all, ethertype, securityGroupId: record.id, projectId: record.projectId, createdAt: now };
    await rules.insert(tx, { ...rule, id: randomUUID(), direction: 'egress', remoteGroupId: null });
    if (isDefaultGroup)
      await rules.insert(tx, { ...rule, id: randomUUID(), direction: 'ingress', remoteGroupId: record.id });
  }
  return record;
}

/** Returns the project's `default` security group, and creates the group on its first use. */
async function getDefaultGroup(context: NetworkContext, tx: Tx, projectId: string): Promise<SecurityGroupRecord> {
  const id = derivedUuid(`default-security-group/${projectId}`);
  const description = 'Default security group';
  return (
    (await groups.get(tx, id)) ??
    insertGroup(tx, { id, name: DEFAULT_GROUP_NAME, projectId, description }, context.clock.now())
  );
}

/**
 * Finds a security group of the project by id or name. If the catalog accepts unknown ids, a missing group is created.
 */
export async function findGroup(
  context: NetworkContext,
  tx: Tx,
  projectId: string,
  nameOrId: string,
): Promise<SecurityGroupRecord> {
  if (nameOrId === DEFAULT_GROUP_NAME) return getDefaultGroup(context, tx, projectId);
  const byId = await groups.get(tx, nameOrId);
  if (byId?.projectId === projectId) return byId;
  const groupsByName = await groups.find(tx, (q) =>
    q.where('project_id', '=', projectId).where('name', '=', nameOrId).limit(2),
  );
  if (groupsByName.length > 1)
    throw new CatalogError(
      'SECURITY_GROUP_AMBIGUOUS',
      `Multiple security groups found matching '${nameOrId}'. Use an ID to be more specific.`,
    );
  if (groupsByName[0]) return groupsByName[0];
  if (byId || !context.acceptsUnknownIds) throw groupNotFound(nameOrId);
  rejectNul(nameOrId);
  return insertGroup(
    tx,
    { id: looksLikeId(nameOrId) ? nameOrId : randomUUID(), name: nameOrId, projectId },
    context.clock.now(),
  );
}

function looksLikeId(text: string): boolean {
  return /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text);
}

/**
 * Prevents the deletion of security groups until the transaction ends. The groups are locked in the order of their ids,
 * so that concurrent requests do not deadlock. The `default` group is not locked, because its next use creates it again
 * with the same id.
 *
 * @throws `SECURITY_GROUP_NOT_FOUND`
 */
export async function preventGroupDeletion(tx: Tx, groupRecords: readonly SecurityGroupRecord[]): Promise<void> {
  const ids = groupRecords.filter(({ name }) => name !== DEFAULT_GROUP_NAME).map(({ id }) => id);
  if (tx.kind === 'sqlite' || ids.length === 0) return;
  const rows = await tx.db
    .selectFrom('security_groups')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .forKeyShare()
    .execute();
  const lockedIds = new Set(rows.map(({ id }) => id));
  for (const id of ids) if (!lockedIds.has(id)) throw groupNotFound(id);
}

/** Returns a new port's security groups: the requested groups without duplicates, or the `default` group. */
export async function findPortGroups(
  context: NetworkContext,
  tx: Tx,
  projectId: string,
  namesOrIds: readonly string[] | undefined,
): Promise<SecurityGroupRecord[]> {
  const groupsById = new Map<string, SecurityGroupRecord>();
  for (const nameOrId of namesOrIds?.length ? namesOrIds : [DEFAULT_GROUP_NAME]) {
    const group = await findGroup(context, tx, projectId, nameOrId);
    groupsById.set(group.id, group);
  }
  const portGroups = [...groupsById.values()];
  await preventGroupDeletion(tx, portGroups);
  return portGroups;
}

/** Creates the security group operations of the embedded network catalog. */
export function securityGroups(context: NetworkContext) {
  const { store, clock } = context;

  /** Reads the rules of all `records` with one query. Returns a function that adds the rules to a record. */
  async function createViewMapper(
    records: readonly SecurityGroupRecord[],
  ): Promise<(group: SecurityGroupRecord) => SecurityGroupView> {
    const ids = records.map((group) => group.id);
    const all = await rules.find(store, (q) => q.where('group_id', 'in', ids).orderBy('seq'));
    return (group) => ({
      ...group,
      rules: all.filter((rule) => rule.securityGroupId === group.id).map(toRule),
    });
  }

  const toView = async (group: SecurityGroupRecord): Promise<SecurityGroupView> =>
    (await createViewMapper([group]))(group);

  async function getVisible(caller: Caller, id: string): Promise<SecurityGroupRecord> {
    const group = await groups.get(store, id);
    if (!group || !canAccessProject(caller, group.projectId)) throw groupNotFound(id);
    return group;
  }

  return {
    async listSecurityGroups(
      caller: Caller,
      query: SecurityGroupQuery & Page = {},
    ): Promise<readonly SecurityGroupView[]> {
      await retryOnUniqueViolation(store, (tx) => getDefaultGroup(context, tx, caller.projectId));
      const securityGroupRecords = await listPage(store, groups, 'oldest first', query, (rows) => {
        let narrowed = rows;
        if (!isAdmin(caller)) narrowed = narrowed.where('project_id', '=', caller.projectId);
        if (query.projectId !== undefined) narrowed = narrowed.where('project_id', '=', query.projectId);
        if (query.name !== undefined) narrowed = narrowed.where('name', '=', query.name);
        if (query.ids) narrowed = narrowed.where('id', 'in', query.ids.length > 0 ? query.ids : ['']);
        return narrowed;
      });
      return securityGroupRecords.length === 0
        ? []
        : securityGroupRecords.map(await createViewMapper(securityGroupRecords));
    },

    async getSecurityGroup(caller: Caller, id: string): Promise<SecurityGroupView> {
      return toView(await getVisible(caller, id));
    },

    resolveSecurityGroups: (caller: Caller, namesOrIds: readonly string[]): Promise<readonly SecurityGroupName[]> =>
      retryOnUniqueViolation(store, async (tx) => {
        const groupNames = [];
        for (const nameOrId of namesOrIds) {
          const { id, name } = await findGroup(context, tx, caller.projectId, nameOrId);
          groupNames.push({ id, name });
        }
        return groupNames;
      }),

    async createSecurityGroup(
      caller: Caller,
      group: {
        readonly name: string;
        readonly description?: string;
        readonly id?: string;
        readonly projectId?: string;
      },
    ): Promise<SecurityGroupView> {
      rejectNul(group);
      if (group.name === DEFAULT_GROUP_NAME)
        throw new CatalogError('SECURITY_GROUP_DEFAULT_EXISTS', 'Default security group already exists.');
      const { name, description, id = randomUUID(), projectId = caller.projectId } = group;
      const createdGroup = await store.transaction((tx) =>
        insertGroup(tx, { id, name, description, projectId }, clock.now()),
      );
      return toView(createdGroup);
    },

    async updateSecurityGroup(
      caller: Caller,
      id: string,
      change: { readonly name?: string; readonly description?: string; readonly tags?: readonly string[] },
    ): Promise<SecurityGroupView> {
      rejectNul(change);
      await getVisible(caller, id);
      const changedGroup = await store.transaction(async (tx) => {
        const group = await groups.lock(tx, id);
        if (!group) throw groupNotFound(id);
        const { name = group.name, description = group.description, tags = group.tags } = change;
        if ((group.name === DEFAULT_GROUP_NAME) !== (name === DEFAULT_GROUP_NAME))
          throw new CatalogError('SECURITY_GROUP_DEFAULT', 'Updating default security group not allowed.');
        return groups.update(tx, { ...group, name, description, tags, updatedAt: clock.now() });
      });
      return toView(changedGroup);
    },

    async deleteSecurityGroup(caller: Caller, id: string): Promise<void> {
      const group = await getVisible(caller, id);
      // Administrators may delete a project's `default` group to clean up. It is created again on its next use.
      if (group.name === DEFAULT_GROUP_NAME && !isAdmin(caller))
        throw new CatalogError(
          'SECURITY_GROUP_DEFAULT_IN_USE',
          'Insufficient rights for removing default security group.',
        );
      await store.transaction(async (tx) => {
        // Requests that add the group to a port, or change its rules, also lock the group first.
        if (!(await groups.lock(tx, id))) throw groupNotFound(id);
        const portCount = await ports.count(tx, (q) =>
          q.where('project_id', '=', group.projectId).where(hasItem(tx, 'securityGroupIds', id)),
        );
        if (portCount > 0) throw new CatalogError('SECURITY_GROUP_IN_USE', `Security Group ${id} in use.`);
        await tx.db
          .deleteFrom('security_group_rules')
          .where(({ or, eb }) => or([eb('group_id', '=', id), eb('remote_group_id', '=', id)]))
          .execute();
        await groups.delete(tx, id);
      });
    },
  };
}
