import type { Call } from '../service/call.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { badRequest, forbidden, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { isParameterOn, listAssignments } from './assignment-list.js';
import { authorize } from './authorize.js';
import { tokenDomain } from './delegation.js';
import { isSameScope } from './directory.js';
import type { Assignment, Group, Scope } from './identity-records.js';
import { filterByTokenDomain, listOf } from './identity-style.js';
import type { Action } from './policies.js';
import type { Target } from './policy-checks.js';
import { authorizeById, domainsOf, targetOf } from './record-policy.js';

/**
 * The path of each scope, the path suffix that follows the role, and whether clients can list the roles on the scope.
 */
const SCOPE_PATHS = [
  ['/v3/projects/:scope', '', true],
  ['/v3/domains/:scope', '', true],
  ['/v3/system', '', true],
  ['/v3/OS-INHERIT/projects/:scope', '/inherited_to_projects', false],
  ['/v3/OS-INHERIT/domains/:scope', '/inherited_to_projects', true],
] as const;
const ACTOR_COLLECTIONS = ['users', 'groups'] as const;
type Actors = (typeof ACTOR_COLLECTIONS)[number];

type RecordKind = 'users' | 'groups' | 'projects' | 'domains' | 'roles';

function findRecord(call: Call, kind: RecordKind, id: string) {
  const record = call.cloud.directory.state[kind].get(id);
  if (!record) throw notFound(`Could not find ${kind.slice(0, -1)}: ${id}.`);
  return record;
}

function scopeInPath(call: Call): Scope {
  const [, , first, second] = call.req.path.split('/');
  const kind = first === 'OS-INHERIT' ? second : first;
  if (kind === 'system') return { kind: 'system', id: 'all' };
  return { kind: kind === 'domains' ? 'domain' : 'project', id: call.param('scope') };
}

type GrantVerb = 'list' | 'check' | 'create' | 'revoke';

function grantAction({ kind }: Scope, actors: Actors, verb: GrantVerb): Action {
  const grants = verb === 'list' ? 'grants' : 'grant';
  const actor = actors === 'users' ? 'user' : 'group';
  return (kind === 'system' ? `${verb}_system_${grants}_for_${actor}` : `${verb}_${grants}`) as Action;
}

/** Returns the policy target of a grant: the actor, the project or domain, and the role. */
function grantTarget(call: Call, { kind, id }: Scope, actors: Actors): Target {
  return {
    domains: kind === 'system' ? [] : domainsOf(call, [`${kind}s`, id], [actors, call.param('actor')]),
    role: call.cloud.directory.state.roles.get(call.param('role')),
  };
}

/**
 * Returns the scope in the path. Throws a 404 error if the scope, the actor or the role does not exist. As in Keystone,
 * paths without inheritance return this error even to callers without permission.
 */
function authorizedScope(call: Call, actors: Actors, inherited: boolean, verb: GrantVerb): Scope {
  const scope = scopeInPath(call);
  const authorizeGrant = () => authorize(call, grantAction(scope, actors, verb), grantTarget(call, scope, actors));
  if (inherited) authorizeGrant();
  if (scope.kind !== 'system') findRecord(call, `${scope.kind}s`, scope.id);
  findRecord(call, actors, call.param('actor'));
  if (call.req.params.role !== undefined) findRecord(call, 'roles', call.param('role'));
  if (!inherited) authorizeGrant();
  return scope;
}

const requestedAssignment = (call: Call, actors: Actors, inherited: boolean, verb: GrantVerb): Assignment => ({
  scope: authorizedScope(call, actors, inherited, verb),
  actor: { kind: actors === 'users' ? 'user' : 'group', id: call.param('actor') },
  roleId: call.param('role'),
  inherited,
});

const missingAssignment = ({ roleId, actor, scope }: Assignment) =>
  notFound(
    `Could not find role assignment with role: ${roleId}, user or group: ${actor.id}, project, domain, or system: ${scope.id}.`,
  );

/** Rejects the assignment of a domain-specific role to a project in another domain. */
function checkRoleDomain(call: Call, { roleId, scope }: Assignment): void {
  const { roles, projects } = call.cloud.directory.state;
  const domain = roles.get(roleId)?.domain_id;
  if (domain && scope.kind === 'project' && projects.get(scope.id)?.domain_id !== domain)
    throw forbidden(`Project ${scope.id} must be in the same domain as the role ${roleId} being assigned.`);
}

/** Returns the routes for role assignments on projects, domains, their subtrees and the system. */
function grantRoutes(): readonly Route[] {
  return SCOPE_PATHS.flatMap(([scopePath, suffix, isListed]) =>
    ACTOR_COLLECTIONS.flatMap((actors) => {
      const inherited = suffix !== '';
      const listPath = `${scopePath}/${actors}/:actor/roles${suffix}`;
      const itemPath = `${scopePath}/${actors}/:actor/roles/:role${suffix}`;
      const listRoute = get(listPath, (call) => {
        const scope = authorizedScope(call, actors, inherited, 'list');
        const matchingAssignments = [...call.cloud.directory.state.assignments.values()].filter(
          (a) => a.actor.id === call.param('actor') && isSameScope(a.scope, scope) && a.inherited === inherited,
        );
        return listOf(
          'roles',
          call,
          matchingAssignments.map(({ roleId }) => findRecord(call, 'roles', roleId)),
        );
      });
      return [
        ...(isListed ? [listRoute] : []),
        put(itemPath, (call) => {
          const requested = requestedAssignment(call, actors, inherited, 'create');
          checkRoleDomain(call, requested);
          call.cloud.directory.assign(requested);
          return noContent();
        }),
        get(itemPath, (call) => {
          const requested = requestedAssignment(call, actors, inherited, 'check');
          if (!call.cloud.directory.isAssigned(requested)) throw missingAssignment(requested);
          return noContent();
        }),
        del(itemPath, (call) => {
          const requested = requestedAssignment(call, actors, inherited, 'revoke');
          if (!call.cloud.directory.revoke(requested)) throw missingAssignment(requested);
          return noContent();
        }),
      ];
    }),
  );
}

/** Returns the routes for group membership. */
function memberRoutes(): readonly Route[] {
  const memberPath = '/v3/groups/:group/users/:user';

  function findMembership(call: Call, action: Action) {
    authorize(call, action, {
      domains: domainsOf(call, ['groups', call.param('group')], ['users', call.param('user')]),
    });
    const group = findRecord(call, 'groups', call.param('group')) as unknown as Group;
    const user = findRecord(call, 'users', call.param('user')).id;
    const isMember = group.members.includes(user);
    const requireMember = () => {
      if (!isMember) throw notFound(`User '${user}' not found in group '${group.id}'`);
    };
    const store = (members: readonly string[]) => {
      call.cloud.directory.state.groups.set(group.id, { ...group, members });
      return noContent();
    };
    return { user, members: group.members, isMember, requireMember, store };
  }

  return [
    get('/v3/groups/:group/users', (call) => {
      authorizeById(call, 'list_users_in_group', 'groups', call.param('group'));
      const { members } = findRecord(call, 'groups', call.param('group')) as unknown as { members: readonly string[] };
      const memberViews = members.map((id): Wire => {
        const { password: _, ...user } = findRecord(call, 'users', id) as Wire;
        return user;
      });
      return listOf('users', call, filterByTokenDomain(call, 'users', memberViews));
    }),
    get('/v3/users/:user/groups', (call) => {
      authorizeById(call, 'list_groups_for_user', 'users', call.param('user'));
      findRecord(call, 'users', call.param('user'));
      const listPath = [...call.cloud.directory.state.groups.values()];
      const userGroups = listPath.filter(({ members }) => members.includes(call.param('user')));
      return listOf(
        'groups',
        call,
        filterByTokenDomain(call, 'groups', userGroups).map(({ members: _, ...group }) => ({
          ...group,
          membership_expires_at: null,
        })),
      );
    }),
    put(memberPath, (call) => {
      const { user, members, isMember, store } = findMembership(call, 'add_user_to_group');
      return isMember ? noContent() : store([...members, user]);
    }),
    del(memberPath, (call) => {
      const { user, members, requireMember, store } = findMembership(call, 'remove_user_from_group');
      requireMember();
      return store(members.filter((member) => member !== user));
    }),
    get(memberPath, (call) => {
      findMembership(call, 'check_user_in_group').requireMember();
      return noContent();
    }),
  ];
}

function authorizeList(call: Call): void {
  const project = call.text('scope.project.id');
  if (!isParameterOn(call, 'include_subtree'))
    authorize(call, 'list_role_assignments', { domains: [tokenDomain(call)] });
  else {
    // As in Keystone, the root of a project tree may also be a domain, which belongs to no domain itself.
    const isDomain = project !== undefined && call.cloud.directory.state.domains.has(project);
    if (project && !isDomain) findRecord(call, 'projects', project);
    authorize(call, 'list_role_assignments_for_tree', isDomain ? {} : targetOf(call, 'projects', project ?? ''));
  }
}

/** Returns the routes for role assignments and group membership. */
export function assignmentRoutes(): readonly Route[] {
  return [
    ...grantRoutes(),
    get('/v3/role_assignments', (call) => {
      authorizeList(call);
      for (const [a, b] of [
        ['scope.domain.id', 'scope.project.id'],
        ['scope.domain.id', 'scope.system'],
        ['scope.project.id', 'scope.system'],
        ['user.id', 'group.id'],
      ] as const)
        if (call.query.has(a) && call.query.has(b)) throw badRequest(`Specify ${a} or ${b}, not both`);
      return listOf('role_assignments', call, listAssignments(call));
    }),
    ...memberRoutes(),
  ];
}
