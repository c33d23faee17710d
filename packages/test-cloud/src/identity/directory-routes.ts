import type { Route } from '../service/route.js';
import { type CollectionSpec, collection } from './collection.js';
import { DEFAULT_DOMAIN, type Directory } from './directory.js';

/** Roles on or of something that is gone are gone too, and so are its tokens. */
function forget({ state }: Directory, id: string): void {
  state.assignments = state.assignments.filter(
    ({ actor, scope, roleId }) => actor.id !== id && scope.id !== id && roleId !== id,
  );
  for (const [token, { userId, scope }] of state.tokens)
    if (userId === id || scope?.id === id) state.tokens.delete(token);
  for (const [key, { userId, projectId }] of state.credentials)
    if (userId === id || projectId === id) state.credentials.delete(key);
}

const specs: readonly CollectionSpec[] = [
  {
    kind: 'domains',
    one: 'domain',
    defaults: () => ({ domain_id: undefined, description: '', enabled: true, tags: [], options: {} }),
    onDelete: forget,
  },
  {
    kind: 'projects',
    one: 'project',
    defaults: () => ({
      parent_id: DEFAULT_DOMAIN,
      description: '',
      enabled: true,
      is_domain: false,
      tags: [],
      options: {},
    }),
    ownedBy: ({ id }, { caller }) => id === caller.projectId,
    onDelete: forget,
  },
  {
    kind: 'users',
    one: 'user',
    defaults: () => ({ enabled: true, default_project_id: null, password_expires_at: null, options: {} }),
    hidden: ['password'],
    ownedBy: ({ id }, { caller }) => id === caller.userId,
    onDelete: forget,
  },
  {
    kind: 'groups',
    one: 'group',
    defaults: () => ({ description: '', members: [] }),
    hidden: ['members'],
    onDelete: forget,
  },
  { kind: 'roles', one: 'role', defaults: () => ({ domain_id: null, description: '', options: {} }), onDelete: forget },
];

/** Domains, projects, users, groups and roles. */
export function directoryRoutes(directory: Directory): readonly Route[] {
  return specs.flatMap((spec) => collection(directory, spec));
}
