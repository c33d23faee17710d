import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { badRequest, forbidden } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';

/** The maximum depth of a project tree, not counting the domain. */
const MAX_PROJECT_DEPTH = 5;

export const childProjects = (call: Call, id: unknown) =>
  [...call.cloud.directory.state.projects.values()].filter(({ parent_id }) => parent_id === id);

export function descendantProjects(call: Call, id: unknown): readonly Wire[] {
  return childProjects(call, id).flatMap((project) => [project, ...descendantProjects(call, project.id)]);
}

export function ancestorProjects(call: Call, { parent_id }: Wire): readonly Wire[] {
  const parent = call.cloud.directory.state.projects.get(String(parent_id));
  return parent ? [parent, ...ancestorProjects(call, parent)] : [];
}

/** Throws if a new project and its parent belong to different domains. `parent` is undefined if a domain is the parent. */
export function checkParentDomain({ domain_id, parent_id }: Wire, parent: Wire | undefined): void {
  const regularParent = parent?.is_domain === true ? undefined : parent;
  if (domain_id === (regularParent ? regularParent.domain_id : parent_id)) return;
  throw badRequest(
    regularParent
      ? `Cannot create project, since it specifies its domain_id ${domain_id}, but specifies a parent in a different domain (${regularParent.domain_id}).`
      : `Cannot create project, the parent (${parent_id}) is acting as a domain, but this project's domain id (${domain_id}) does not match the parent's id.`,
  );
}

/** Throws if a new project would have a disabled ancestor or exceed the maximum depth. */
export function checkProjectParents(call: Call, parentId: unknown): void {
  const newAncestors = ancestorProjects(call, { parent_id: parentId });
  const disabledProject = newAncestors.find(({ enabled }) => enabled === false);
  if (disabledProject)
    throw badRequest(`cannot create a project in a branch containing a disabled project: ${disabledProject.id}`);
  if (newAncestors.length >= MAX_PROJECT_DEPTH) throw forbidden(`Max hierarchy depth reached for ${parentId} branch.`);
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
    ancestorProjects(call, before).some((one) => one.enabled === false)
  )
    throw forbidden(`Cannot enable project ${before.id} since it has disabled parents`);
  if (change.enabled === false && before.enabled !== false && !before.is_domain)
    if (descendantProjects(call, before.id).some(({ enabled }) => enabled !== false))
      throw forbidden(`Cannot disable project ${before.id} since its subtree contains enabled projects.`);
}
