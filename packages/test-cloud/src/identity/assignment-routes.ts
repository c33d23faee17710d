import type { Call } from '../service/call.js';
import { del, get, head, noContent, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { listAssignments } from './assignment-list.js';
import { sameScope } from './directory.js';
import type { Assignment, Scope } from './identity-records.js';
import { listOf } from './identity-style.js';

/** Paths of role assignments: the scope, and the suffix after the role. */
const SCOPE_PATHS = [
  ['/v3/projects/:scope', ''],
  ['/v3/domains/:scope', ''],
  ['/v3/system', ''],
  ['/v3/OS-INHERIT/projects/:scope', '/inherited_to_projects'],
  ['/v3/OS-INHERIT/domains/:scope', '/inherited_to_projects'],
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

function assignmentOf(call: Call, actors: (typeof ACTORS)[number], inherited: boolean): Assignment {
  call.requireAdmin();
  const scope = scopeOf(call);
  if (scope.kind !== 'system') findRecord(call, `${scope.kind}s`, scope.id);
  findRecord(call, actors, call.param('actor'));
  findRecord(call, 'roles', call.param('role'));
  return {
    actor: { kind: actors === 'users' ? 'user' : 'group', id: call.param('actor') },
    scope,
    roleId: call.param('role'),
    inherited,
  };
}

const missing = () => notFound('Could not find role assignment with the role, user or group, and scope given.');

/** Role assignments on projects, domains, their subtrees, and the system. */
function grantRoutes(): readonly Route[] {
  return SCOPE_PATHS.flatMap(([scopePath, suffix]) =>
    ACTORS.flatMap((actors) => {
      const inherited = suffix !== '';
      const all = `${scopePath}/${actors}/:actor/roles${suffix}`;
      const one = `${scopePath}/${actors}/:actor/roles/:role${suffix}`;
      const check = (call: Call) => {
        if (!call.cloud.directory.isAssigned(assignmentOf(call, actors, inherited))) throw missing();
        return noContent();
      };
      return [
        get(all, (call) => {
          call.requireAdmin();
          const scope = scopeOf(call);
          const matching = [...call.cloud.directory.state.assignments.values()].filter(
            (a) => a.actor.id === call.param('actor') && sameScope(a.scope, scope) && a.inherited === inherited,
          );
          return listOf(
            'roles',
            call,
            matching.map(({ roleId }) => findRecord(call, 'roles', roleId)),
          );
        }),
        put(one, (call) => {
          call.cloud.directory.assign(assignmentOf(call, actors, inherited));
          return noContent();
        }),
        head(one, check),
        get(one, check),
        del(one, (call) => {
          if (!call.cloud.directory.revoke(assignmentOf(call, actors, inherited))) throw missing();
          return noContent();
        }),
      ];
    }),
  );
}

/** Membership of users in groups. */
function memberRoutes(): readonly Route[] {
  const path = '/v3/groups/:group/users/:user';

  function change(call: Call, changed: (members: readonly string[], userId: string) => readonly string[]) {
    call.requireAdmin();
    const { groups } = call.cloud.directory.state;
    const group = groups.get(call.param('group'));
    if (!group) throw notFound(`Could not find group: ${call.param('group')}.`);
    findRecord(call, 'users', call.param('user'));
    groups.set(group.id, { ...group, members: changed(group.members, call.param('user')) });
    return noContent();
  }

  function check(call: Call) {
    if (!call.cloud.directory.state.groups.get(call.param('group'))?.members.includes(call.param('user')))
      throw notFound(`User '${call.param('user')}' not found in group '${call.param('group')}'.`);
    return noContent();
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
      const all = [...call.cloud.directory.state.groups.values()];
      const userGroups = all.filter(({ members }) => members.includes(call.param('user')));
      return listOf(
        'groups',
        call,
        userGroups.map(({ members: _, ...group }) => group),
      );
    }),
    put(path, (call) => change(call, (members, id) => [...new Set([...members, id])])),
    del(path, (call) => change(call, (members, id) => members.filter((member) => member !== id))),
    head(path, check),
    get(path, check),
  ];
}

/** Role assignments and group membership. */
export function assignmentRoutes(): readonly Route[] {
  return [
    ...grantRoutes(),
    get('/v3/role_assignments', (call) => {
      if (call.query.get('user.id') !== call.caller.userId) call.requireAdmin();
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
