import type { Call } from '../service/call.js';
import { del, get, noContent, put, type Route } from '../service/route.js';
import { badRequest, forbidden, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { listAssignments } from './assignment-list.js';
import { sameScope } from './directory.js';
import type { Assignment, Group, Scope } from './identity-records.js';
import { listOf } from './identity-style.js';

/** Role assignment paths: the scope's path, the suffix after the role, and whether clients can list the roles there. */
const SCOPE_PATHS = [
  ['/v3/projects/:scope', '', true],
  ['/v3/domains/:scope', '', true],
  ['/v3/system', '', true],
  ['/v3/OS-INHERIT/projects/:scope', '/inherited_to_projects', false],
  ['/v3/OS-INHERIT/domains/:scope', '/inherited_to_projects', true],
] as const;
const ACTORS = ['users', 'groups'] as const;

type Kind = 'users' | 'groups' | 'projects' | 'domains' | 'roles';

function findRecord(call: Call, kind: Kind, id: string) {
  const record = call.cloud.directory.state[kind].get(id);
  if (!record) throw notFound(`Could not find ${kind.slice(0, -1)}: ${id}.`);
  return record;
}

function scopeOf(call: Call): Scope {
  const [, , first, second] = call.req.path.split('/');
  const kind = first === 'OS-INHERIT' ? second : first;
  if (kind === 'system') return { kind: 'system', id: 'all' };
  return { kind: kind === 'domains' ? 'domain' : 'project', id: call.param('scope') };
}

/**
 * Returns the scope in the path. Throws a 404 error if the scope, the actor or the role does not exist. As in Keystone,
 * paths without inheritance return this error even to callers without permission.
 */
function checkedScope(call: Call, actors: (typeof ACTORS)[number], inherited: boolean): Scope {
  if (inherited) call.requireAdmin();
  const scope = scopeOf(call);
  if (scope.kind !== 'system') findRecord(call, `${scope.kind}s`, scope.id);
  findRecord(call, actors, call.param('actor'));
  if (call.req.params.role !== undefined) findRecord(call, 'roles', call.param('role'));
  call.requireAdmin();
  return scope;
}

const assignmentOf = (call: Call, actors: (typeof ACTORS)[number], inherited: boolean): Assignment => ({
  scope: checkedScope(call, actors, inherited),
  actor: { kind: actors === 'users' ? 'user' : 'group', id: call.param('actor') },
  roleId: call.param('role'),
  inherited,
});

const missing = ({ roleId, actor, scope }: Assignment) =>
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
    ACTORS.flatMap((actors) => {
      const inherited = suffix !== '';
      const all = `${scopePath}/${actors}/:actor/roles${suffix}`;
      const one = `${scopePath}/${actors}/:actor/roles/:role${suffix}`;
      const list = get(all, (call) => {
        const scope = checkedScope(call, actors, inherited);
        const matching = [...call.cloud.directory.state.assignments.values()].filter(
          (a) => a.actor.id === call.param('actor') && sameScope(a.scope, scope) && a.inherited === inherited,
        );
        return listOf(
          'roles',
          call,
          matching.map(({ roleId }) => findRecord(call, 'roles', roleId)),
        );
      });
      return [
        ...(isListed ? [list] : []),
        put(one, (call) => {
          const requested = assignmentOf(call, actors, inherited);
          checkRoleDomain(call, requested);
          call.cloud.directory.assign(requested);
          return noContent();
        }),
        get(one, (call) => {
          const requested = assignmentOf(call, actors, inherited);
          if (!call.cloud.directory.isAssigned(requested)) throw missing(requested);
          return noContent();
        }),
        del(one, (call) => {
          const requested = assignmentOf(call, actors, inherited);
          if (!call.cloud.directory.revoke(requested)) throw missing(requested);
          return noContent();
        }),
      ];
    }),
  );
}

/** Returns the routes for group membership. */
function memberRoutes(): readonly Route[] {
  const path = '/v3/groups/:group/users/:user';

  function find(call: Call) {
    call.requireAdmin();
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
      call.requireAdmin();
      const { members } = findRecord(call, 'groups', call.param('group')) as unknown as { members: readonly string[] };
      const shown = members.map((id): Wire => {
        const { password: _, ...user } = findRecord(call, 'users', id) as Wire;
        return user;
      });
      return listOf('users', call, shown);
    }),
    get('/v3/users/:user/groups', (call) => {
      if (call.param('user') !== call.caller.userId) call.requireAdmin();
      findRecord(call, 'users', call.param('user'));
      const all = [...call.cloud.directory.state.groups.values()];
      const userGroups = all.filter(({ members }) => members.includes(call.param('user')));
      return listOf(
        'groups',
        call,
        userGroups.map(({ members: _, ...group }) => ({ ...group, membership_expires_at: null })),
      );
    }),
    put(path, (call) => {
      const { user, members, isMember, store } = find(call);
      return isMember ? noContent() : store([...members, user]);
    }),
    del(path, (call) => {
      const { user, members, requireMember, store } = find(call);
      requireMember();
      return store(members.filter((member) => member !== user));
    }),
    get(path, (call) => {
      find(call).requireMember();
      return noContent();
    }),
  ];
}

/** Returns the routes for role assignments and group membership. */
export function assignmentRoutes(): readonly Route[] {
  return [
    ...grantRoutes(),
    get('/v3/role_assignments', (call) => {
      call.requireAdmin();
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
