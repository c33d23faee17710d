import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { tokenDomain } from './delegation.js';
import { isSameScope } from './directory.js';
import type { Assignment, Scope } from './identity-records.js';

/** Returns whether a boolean query parameter is present and not `0`, `false`, `no` or `off`. */
export function isParameterOn({ query }: Call, name: string): boolean {
  const value = query.get(name);
  return value !== null && !['0', 'false', 'no', 'off'].includes(value.toLowerCase());
}

/** Returns whether a project has the ID `rootId`, or is below the project or domain with this ID. */
function isInSubtree(call: Call, projectId: string, rootId: string): boolean {
  const { projects } = call.cloud.directory.state;
  const visitedIds = new Set<string>();
  for (
    let project = projects.get(projectId);
    project && !visitedIds.has(project.id);
    project = projects.get(project.parent_id ?? '')
  ) {
    if (project.id === rootId || project.domain_id === rootId) return true;
    visitedIds.add(project.id);
  }
  return false;
}

/** A role assignment and, for an effective assignment, the stored assignment from which it is derived. */
type ListedAssignment = Assignment & { readonly from?: Assignment };

/**
 * Resolves groups, inheritance and implied roles to one effective role assignment per user, scope and role.
 */
function effectiveAssignments(call: Call): readonly ListedAssignment[] {
  const { directory } = call.cloud;
  const { groups, projects, domains } = directory.state;
  const allScopes: Scope[] = [
    ...[...projects.keys()].map((id): Scope => ({ kind: 'project', id })),
    ...[...domains.keys()].map((id): Scope => ({ kind: 'domain', id })),
    { kind: 'system', id: 'all' },
  ];
  const assignmentsByKey = new Map<string, ListedAssignment>();
  for (const scope of allScopes)
    for (const assignment of directory.assignmentsOfScope(scope)) {
      const { actor, roleId } = assignment;
      const users = actor.kind === 'user' ? [actor.id] : (groups.get(actor.id)?.members ?? []);
      for (const id of users)
        for (const role of directory.effectiveRoles([roleId])) {
          const effectiveAssignment: ListedAssignment = {
            actor: { kind: 'user', id },
            scope,
            roleId: role,
            inherited: false,
            from: assignment,
          };
          const key = [id, scope.kind, scope.id, role].join('/');
          if (!assignmentsByKey.has(key)) assignmentsByKey.set(key, effectiveAssignment);
        }
    }
  return [...assignmentsByKey.values()];
}

function matchesQuery(call: Call, { actor, scope, roleId, inherited }: ListedAssignment): boolean {
  const { query } = call;
  const is = (name: string, value: string) => !query.has(name) || query.get(name) === value;
  const project = query.get('scope.project.id');
  const isInProject =
    project === null ||
    (scope.kind === 'project' &&
      (isParameterOn(call, 'include_subtree') ? isInSubtree(call, scope.id, project) : scope.id === project));
  return (
    is('role.id', roleId) &&
    (actor.kind === 'user' ? is('user.id', actor.id) : !query.has('user.id')) &&
    (actor.kind === 'group' ? is('group.id', actor.id) : !query.has('group.id')) &&
    isInProject &&
    (scope.kind === 'domain' ? is('scope.domain.id', scope.id) : !query.has('scope.domain.id')) &&
    (scope.kind === 'system' || !query.has('scope.system')) &&
    (!query.has('scope.OS-INHERIT:inherited_to') || inherited)
  );
}

function assignmentLink(call: Call, { actor, scope, roleId, inherited }: Assignment): string {
  const scopePath = scope.kind === 'system' ? 'system' : `${scope.kind}s/${scope.id}`;
  const path = `${scopePath}/${actor.kind}s/${actor.id}/roles/${roleId}`;
  return `${call.base}/v3/${inherited ? `OS-INHERIT/${path}/inherited_to_projects` : path}`;
}

function assignmentView(call: Call, listed: ListedAssignment): Wire {
  const { actor, scope, roleId, inherited, from = listed } = listed;
  const { state } = call.cloud.directory;
  const includesNames = isParameterOn(call, 'include_names');
  const summarize = (kind: 'users' | 'groups' | 'projects' | 'domains' | 'roles', id: string) => {
    const record = state[kind].get(id);
    const domain = state.domains.get(String(record?.domain_id));
    const includesDomain = includesNames && domain && kind !== 'domains';
    return {
      id,
      ...(includesNames && { name: record?.name }),
      ...(includesDomain && { domain: { id: domain.id, name: domain.name } }),
    };
  };
  const membership = `${call.base}/v3/groups/${from.actor.id}/users/${actor.id}`;
  const implicationLink = `${call.base}/v3/roles/${from.roleId}/implies/${roleId}`;
  return {
    role: summarize('roles', roleId),
    [actor.kind]: summarize(`${actor.kind}s`, actor.id),
    scope: {
      ...(scope.kind === 'system'
        ? { system: { all: true } }
        : { [scope.kind]: summarize(`${scope.kind}s`, scope.id) }),
      ...((inherited || (from !== listed && !isSameScope(from.scope, scope))) && {
        'OS-INHERIT:inherited_to': 'projects',
      }),
    },
    links: {
      assignment: assignmentLink(call, from),
      ...(from.actor.kind === 'group' && actor.kind === 'user' && { membership }),
      ...(from.roleId !== roleId && { prior_role: implicationLink }),
    },
  };
}

/** Returns the role assignments that match the query parameters: stored ones or, with `effective`, effective ones. */
export function listAssignments(call: Call): readonly Wire[] {
  const isEffective = isParameterOn(call, 'effective');
  if (isEffective && call.query.has('group.id'))
    throw badRequest('Combining effective and group filter will always result in an empty list.');
  if (isParameterOn(call, 'include_subtree') && !call.query.has('scope.project.id'))
    throw badRequest('scope.project.id must be specified if include_subtree is also specified');
  const allAssignments: readonly ListedAssignment[] = isEffective
    ? effectiveAssignments(call)
    : [...call.cloud.directory.state.assignments.values()];
  const domain = tokenDomain(call);
  const { projects } = call.cloud.directory.state;
  const isInDomain = ({ scope: { kind, id } }: ListedAssignment) =>
    !domain || domain === (kind === 'project' ? projects.get(id)?.domain_id : id);
  return allAssignments
    .filter((listed) => isInDomain(listed) && matchesQuery(call, listed))
    .map((listed) => assignmentView(call, listed));
}
