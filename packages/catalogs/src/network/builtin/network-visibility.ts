import type { Rows, Session } from '@apistrata/record-store';
import type { ExpressionBuilder } from 'kysely';
import { hasItem } from '../../builtin/json-conditions.js';
import type { Caller } from '../../caller/caller.js';
import { owns } from '../../caller/caller-scope.js';
import { isExternalForAll, type NetworkRecord } from './network-tables.js';

/** Returns whether a project may use a network of another project. */
export function isSharedWith(projectId: string, { shared, sharedWith }: NetworkRecord): boolean {
  return shared || sharedWith?.includes(projectId) === true;
}

export function canSeeNetwork(caller: Caller, network: NetworkRecord): boolean {
  const { projectId } = caller;
  const { external, externalFor } = network;
  return (
    owns(caller, network.projectId) ||
    isSharedWith(projectId, network) ||
    (external && (isExternalForAll(externalFor) || externalFor?.includes(projectId) === true))
  );
}

/** Returns the network as the caller sees it: one that is shared with the caller's project is a shared one. */
export function seenBy({ projectId }: Caller, network: NetworkRecord): NetworkRecord {
  return isSharedWith(projectId, network) ? { ...network, shared: true } : network;
}

type NetworkExpressions = ExpressionBuilder<Rows, string>;

/** Selects the networks that are shared with a project. Few are, so an index finds these rather than all others. */
export function sharedRows(session: Session, projectId: string) {
  return ({ or, and, eb }: NetworkExpressions) =>
    or([eb('shared', '=', 1), and([eb('granted', '=', 1), hasItem(session, 'sharedWith', projectId)])]);
}

/** Selects the networks that a project sees: its own, shared and external ones. */
export function visibleRows(session: Session, projectId: string) {
  return ({ or, and, eb }: NetworkExpressions) =>
    or([
      eb('project_id', '=', projectId),
      eb('shared', '=', 1),
      and([eb('granted', '=', 1), hasItem(session, 'sharedWith', projectId)]),
      and([
        eb('external', '=', 1),
        // Records of earlier versions have no value.
        or([eb('restricted', 'is', null), eb('restricted', '=', 0), hasItem(session, 'externalFor', projectId)]),
      ]),
    ]);
}
