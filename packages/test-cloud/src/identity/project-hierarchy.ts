import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { badRequest, forbidden } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';

/** The maximum depth of a project tree, not counting the domain. */
const MAX_DEPTH = 5;

export const children = (call: Call, id: unknown) =>
  [...call.cloud.directory.state.projects.values()].filter(({ parent_id }) => parent_id === id);

export function descendants(call: Call, id: unknown): readonly Wire[] {
  return children(call, id).flatMap((project) => [project, ...descendants(call, project.id)]);
}

export function ancestors(call: Call, { parent_id }: Wire): readonly Wire[] {
  const parent = call.cloud.directory.state.projects.get(String(parent_id));
  return parent ? [parent, ...ancestors(call, parent)] : [];
}

/** Throws if a new project would have a disabled ancestor or exceed the maximum depth. */
export function checkProjectParents(call: Call, parentId: unknown): void {
  const above = ancestors(call, { parent_id: parentId });
  const disabled = above.find(({ enabled }) => enabled === false);
  if (disabled) throw badRequest(`cannot create a project in a branch containing a disabled project: ${disabled.id}`);
  if (above.length >= MAX_DEPTH) throw forbidden(`Max hierarchy depth reached for ${parentId} branch.`);
}

/** Throws if a change moves a project, or enables or disables it in conflict with its ancestors or descendants. */
export function checkProjectChange(call: Call, before: Doc, change: Wire): void {
  if (change.parent_id !== undefined && change.parent_id !== before.parent_id)
    throw forbidden('Update of `parent_id` is not allowed.');
  if (change.is_domain !== undefined && change.is_domain !== (before.is_domain ?? false))
    throw badRequest('Update of `is_domain` is not allowed.');
  if (
    change.enabled === true &&
    before.enabled === false &&
    ancestors(call, before).some((one) => one.enabled === false)
  )
    throw forbidden(`Cannot enable project ${before.id} since it has disabled parents`);
  if (change.enabled === false && before.enabled !== false && !before.is_domain)
    if (descendants(call, before.id).some(({ enabled }) => enabled !== false))
      throw forbidden(`Cannot disable project ${before.id} since its subtree contains enabled projects.`);
}
