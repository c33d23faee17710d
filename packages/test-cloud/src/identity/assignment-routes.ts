import type { Call } from '../service/call.js';
import { del, get, head, noContent, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { listOf } from './collection.js';
import { type Directory, sameScope } from './directory.js';
import type { Assignment, Scope } from './identity-records.js';

/** Paths on which roles are given: where, and to whom. */
const PLACES = ['/v3/projects/:scope', '/v3/domains/:scope', '/v3/system'] as const;
const ACTORS = ['users', 'groups'] as const;

function scopeOf(call: Call): Scope {
  const kind = call.req.path.split('/')[2];
  if (kind === 'system') return { kind: 'system', id: 'all' };
  return { kind: kind === 'domains' ? 'domain' : 'project', id: call.param('scope') };
}

/** Who has which role where. */
export function assignmentRoutes(directory: Directory): readonly Route[] {
  function named(kind: 'users' | 'groups' | 'projects' | 'domains' | 'roles', id: string) {
    const record = directory.state[kind].get(id);
    if (!record) throw notFound(`Could not find ${kind.slice(0, -1)}: ${id}.`);
    return record;
  }

  function assignmentOf(call: Call, actors: (typeof ACTORS)[number]): Assignment {
    call.requireAdmin();
    const scope = scopeOf(call);
    if (scope.kind !== 'system') named(`${scope.kind}s`, scope.id);
    named(actors, call.param('actor'));
    named('roles', call.param('role'));
    return {
      actor: { kind: actors === 'users' ? 'user' : 'group', id: call.param('actor') },
      scope,
      roleId: call.param('role'),
    };
  }

  function held(wanted: Assignment): boolean {
    return directory.state.assignments.some(
      ({ actor, scope, roleId }) =>
        actor.kind === wanted.actor.kind &&
        actor.id === wanted.actor.id &&
        sameScope(scope, wanted.scope) &&
        roleId === wanted.roleId,
    );
  }

  const grants = PLACES.flatMap((place) =>
    ACTORS.flatMap((actors) => {
      const all = `${place}/${actors}/:actor/roles`;
      const one = `${all}/:role`;
      const check = (call: Call) => {
        if (!held(assignmentOf(call, actors))) throw notFound('Could not find role assignment.');
        return noContent();
      };
      return [
        get(all, (call) => {
          call.requireAdmin();
          const scope = scopeOf(call);
          const mine = directory.state.assignments.filter(
            (a) => a.actor.id === call.param('actor') && sameScope(a.scope, scope),
          );
          return listOf(
            'roles',
            call,
            mine.map(({ roleId }) => named('roles', roleId)),
          );
        }),
        put(one, (call) => {
          directory.assign(assignmentOf(call, actors));
          return noContent();
        }),
        head(one, check),
        get(one, check),
        del(one, (call) => {
          if (!directory.revoke(assignmentOf(call, actors))) throw notFound('Could not find role assignment.');
          return noContent();
        }),
      ];
    }),
  );

  function show(call: Call, { actor, scope, roleId }: Assignment) {
    const names = call.flag('include_names');
    const brief = (kind: 'users' | 'groups' | 'projects' | 'domains' | 'roles', id: string) => {
      const record = directory.state[kind].get(id);
      const domain = directory.state.domains.get(String(record?.domain_id));
      return {
        id,
        ...(names && { name: record?.name }),
        ...(names && domain && { domain: { id: domain.id, name: domain.name } }),
      };
    };
    return {
      role: brief('roles', roleId),
      [actor.kind]: brief(`${actor.kind}s`, actor.id),
      scope: scope.kind === 'system' ? { system: { all: true } } : { [scope.kind]: brief(`${scope.kind}s`, scope.id) },
      links: { assignment: `${call.base}/v3/role_assignments` },
    };
  }

  return [
    ...grants,
    get('/v3/role_assignments', (call) => {
      const wanted = (name: string, value: string) => !call.query.has(name) || call.query.get(name) === value;
      const all = directory.state.assignments.filter(
        ({ actor, scope, roleId }) =>
          wanted('role.id', roleId) &&
          (actor.kind === 'user' ? wanted('user.id', actor.id) : !call.query.has('user.id')) &&
          (actor.kind === 'group' ? wanted('group.id', actor.id) : !call.query.has('group.id')) &&
          (scope.kind === 'project' ? wanted('scope.project.id', scope.id) : !call.query.has('scope.project.id')) &&
          (scope.kind === 'domain' ? wanted('scope.domain.id', scope.id) : !call.query.has('scope.domain.id')) &&
          (scope.kind === 'system' || !call.query.has('scope.system')),
      );
      if (call.query.get('user.id') !== call.caller.userId) call.requireAdmin();
      return listOf(
        'role_assignments',
        call,
        all.map((assignment) => show(call, assignment)),
      );
    }),
    get('/v3/groups/:group/users', (call) => {
      call.requireAdmin();
      const { members } = named('groups', call.param('group')) as unknown as { members: readonly string[] };
      return listOf(
        'users',
        call,
        members.map((id) => ({ ...named('users', id), password: undefined })),
      );
    }),
    get('/v3/users/:user/groups', (call) => {
      if (call.param('user') !== call.caller.userId) call.requireAdmin();
      const groups = [...directory.state.groups.values()].filter(({ members }) => members.includes(call.param('user')));
      return listOf(
        'groups',
        call,
        groups.map(({ members: _, ...group }) => group),
      );
    }),
    put('/v3/groups/:group/users/:user', (call) =>
      changeMembers(call, (members, id) => [...new Set([...members, id])]),
    ),
    del('/v3/groups/:group/users/:user', (call) =>
      changeMembers(call, (members, id) => members.filter((m) => m !== id)),
    ),
    head('/v3/groups/:group/users/:user', (call) => {
      if (!directory.state.groups.get(call.param('group'))?.members.includes(call.param('user')))
        throw notFound('The user is not in the group.');
      return noContent();
    }),
  ];

  function changeMembers(call: Call, change: (members: readonly string[], userId: string) => readonly string[]) {
    call.requireAdmin();
    const group = directory.state.groups.get(call.param('group'));
    if (!group) throw notFound(`Could not find group: ${call.param('group')}.`);
    named('users', call.param('user'));
    directory.state.groups.set(group.id, { ...group, members: change(group.members, call.param('user')) });
    return noContent();
  }
}
