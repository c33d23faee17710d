import { isInSubquery, type Rows, type Session, type Tx } from '@apistrata/record-store';
import type { ExpressionBuilder } from 'kysely';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject } from '../../caller/caller-scope.js';
import { isExternalForAll, type NetworkRecord } from './network-tables.js';

/** Returns whether another project's network is shared with a project, or with all projects. */
export function isSharedWith(projectId: string, { shared, sharedWith }: NetworkRecord): boolean {
  return shared || sharedWith?.includes(projectId) === true;
}

export function canSeeNetwork(caller: Caller, network: NetworkRecord): boolean {
  const { projectId } = caller;
  const { external, externalFor } = network;
  return (
    canAccessProject(caller, network.projectId) ||
    isSharedWith(projectId, network) ||
    (external && (isExternalForAll(externalFor) || externalFor?.includes(projectId) === true))
  );
}

/** Returns the network as the caller sees it: `shared` is true if the network is shared with the caller's project. */
export function toCallerView({ projectId }: Caller, network: NetworkRecord): NetworkRecord {
  return isSharedWith(projectId, network) ? { ...network, shared: true } : network;
}

/** Stores which individual projects may see a network. Replaces the network's previous rows. */
export async function storeGrants(tx: Tx, { id, sharedWith, externalFor }: NetworkRecord): Promise<void> {
  await removeGrants(tx, id);
  const rows = [
    ...(sharedWith ?? []).map((project_id) => ({ project_id, network_id: id, action: 'shared' })),
    ...(externalFor ?? []).map((project_id) => ({ project_id, network_id: id, action: 'external' })),
  ];
  if (rows.length > 0) await tx.db.insertInto('network_grants').values(rows).execute();
}

export async function removeGrants(tx: Tx, networkId: string): Promise<void> {
  await tx.db.deleteFrom('network_grants').where('network_id', '=', networkId).execute();
}

type NetworkExpressionBuilder = ExpressionBuilder<Rows, string>;

const selectGrants = ({ db }: Session, projectId: string) =>
  db.selectFrom('network_grants').select('network_id').where('project_id', '=', projectId);

/**
 * Returns an SQL condition for networks that are shared with a project. Few networks are shared, so the condition uses
 * indexes of shared networks.
 */
export function sharedNetworkCondition(session: Session, projectId: string) {
  const grantedNetworkIds = selectGrants(session, projectId).where('action', '=', 'shared');
  return ({ or, eb }: NetworkExpressionBuilder) =>
    or([eb('shared', '=', 1), isInSubquery(session, 'id', grantedNetworkIds)]);
}

/** Returns an SQL condition for networks that a project sees: its own, shared and external networks. */
export function visibilityCondition(session: Session, projectId: string) {
  return ({ or, and, eb }: NetworkExpressionBuilder) =>
    or([
      eb('project_id', '=', projectId),
      eb('shared', '=', 1),
      // Rows that an earlier version wrote contain null in the `restricted` column.
      and([eb('external', '=', 1), or([eb('restricted', 'is', null), eb('restricted', '=', 0)])]),
      isInSubquery(session, 'id', selectGrants(session, projectId)),
    ]);
}

/** Returns an SQL condition for networks that are visible to projects other than their owner. */
export function visibleToOthersCondition(session: Session) {
  const grantedNetworkIds = session.db.selectFrom('network_grants').select('network_id');
  return ({ or, eb }: NetworkExpressionBuilder) =>
    or([eb('shared', '=', 1), eb('external', '=', 1), isInSubquery(session, 'id', grantedNetworkIds)]);
}
