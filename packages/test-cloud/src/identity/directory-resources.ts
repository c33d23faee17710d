import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, type Fields, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest, conflict, forbidden, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { anyId, dictionary, flag } from '../service/wire-types.js';
import { DEFAULT_DOMAIN } from './directory.js';
import { impliedRoleRoutes } from './implied-roles.js';
import { projectTagRoutes } from './project-tag-routes.js';
import { UserOptions } from './user-options.js';

const name = z.string().trim().min(1).max(255);
/** Domains and projects have shorter names than users, groups and roles. */
const shortName = z.string().trim().min(1).max(64);
const nullableText = z.string().nullable();
const tags = z.array(z.string().min(1).max(255)).max(80);
const everything = ['list', 'show', 'create', 'change', 'remove'] as const;
/** Members can read their own records by id; their projects are at `/auth/projects`. */
const listsAndWrites = ['list', 'create', 'change', 'remove'] as const;
/** Returns the domain of the caller, which is the default for new records. */
const ownDomain = ({ caller }: Call) => caller.userDomainId ?? DEFAULT_DOMAIN;

const common: Fields = {
  id: derived(),
  name: required(settable(name)),
  description: settable(nullableText, ''),
  options: settable(dictionary, () => ({})),
};

/** Rejects a name that another record in the domain has. */
function rejectDuplicates(call: Call, many: string, one: string, requested: Wire, except?: string): void {
  const table = call.cloud.documents.table<Doc>(`identity/${many}`);
  const isUsed = [...table.values()].some(
    (other) => other.name === requested.name && other.domain_id === requested.domain_id && other.id !== except,
  );
  if (isUsed)
    throw conflict(`Conflict occurred attempting to store ${one} - Duplicate entry found with name ${requested.name}.`);
}

function requireDomain({ cloud }: Call, id: unknown): void {
  if (typeof id === 'string' && !cloud.directory.state.domains.has(id)) throw notFound(`Could not find domain: ${id}.`);
}

/** The hooks of resources with a unique name in a domain. */
function namedInDomain(many: string, one: string): Pick<ResourceSpec, 'creating' | 'changing' | 'removing'> {
  return {
    creating: (call, doc) => {
      requireDomain(call, doc.domain_id);
      rejectDuplicates(call, many, one, doc);
      return undefined;
    },
    changing: (call, before, change) => {
      if (change.name !== undefined) rejectDuplicates(call, many, one, { ...before, ...change }, before.id);
      if (change.enabled === false) call.cloud.directory.disable(before.id);
      return change.options === undefined ? undefined : { options: mergedOptions(before.options, change.options) };
    },
    removing: (call, { id }) => call.cloud.directory.removeReferencesTo(id),
  };
}

/** Merges changed options into the previous ones; null removes an option. */
function mergedOptions(before: unknown, change: unknown): Wire {
  const merged = { ...(before as Wire), ...(change as Wire) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

function rejectEnabled({ enabled }: Doc, what: string): void {
  if (enabled !== false) throw forbidden(`Cannot delete a ${what} that is enabled, please disable it first.`);
}

export const domains: ResourceSpec = {
  path: 'domains',
  one: 'domain',
  many: 'domains',
  filters: ['name', 'enabled'],
  isVisible: (call, { id }) => id === ownDomain(call),
  admin: listsAndWrites,
  revealsMissing: ['change', 'remove'],
  fields: () => ({
    ...common,
    name: required(settable(shortName)),
    enabled: settable(flag, true),
    tags: settable(tags, () => []),
  }),
  ...namedInDomain('domains', 'domain'),
  removing(call, domain) {
    rejectEnabled(domain, 'domain');
    const { directory, documents } = call.cloud;
    for (const many of ['projects', 'users', 'groups', 'roles'])
      for (const doc of documents.table<Doc>(`identity/${many}`).values())
        if (doc.domain_id === domain.id || doc.id === domain.id) {
          documents.table(`identity/${many}`).delete(doc.id);
          directory.removeReferencesTo(doc.id);
        }
    directory.removeReferencesTo(domain.id);
  },
};

const children = (call: Call, id: unknown) =>
  [...call.cloud.directory.state.projects.values()].filter(({ parent_id }) => parent_id === id);

function descendants(call: Call, id: unknown): readonly Wire[] {
  return children(call, id).flatMap((project) => [project, ...descendants(call, project.id)]);
}

function ancestors(call: Call, { parent_id }: Wire): readonly Wire[] {
  const parent = call.cloud.directory.state.projects.get(String(parent_id));
  return parent ? [parent, ...ancestors(call, parent)] : [];
}

type Tree = { readonly [id: string]: Tree | null };

function descendantIds(call: Call, id: unknown): Tree | null {
  const projects = children(call, id);
  return projects.length === 0
    ? null
    : Object.fromEntries(projects.map((project) => [project.id, descendantIds(call, project.id)]));
}

export const projects: ResourceSpec = {
  path: 'projects',
  one: 'project',
  many: 'projects',
  tags: 'filters',
  routes: projectTagRoutes,
  filters: ['domain_id', 'enabled', 'name', 'parent_id', 'is_domain'],
  isVisible: ({ caller, cloud }, { id }) =>
    id === caller.projectId || cloud.directory.projectsOf(caller.userId).some((project) => project.id === id),
  lists: (call, { is_domain }) => call.query.has('is_domain') || is_domain !== true,
  admin: listsAndWrites,
  fields: () => ({
    ...common,
    name: required(settable(shortName)),
    domain_id: fixed(anyId.nullable()),
    parent_id: fixed(anyId.nullable()),
    enabled: settable(flag, true),
    is_domain: fixed(flag, false),
    tags: settable(tags, () => []),
  }),
  ...namedInDomain('projects', 'project'),
  creating(call, project) {
    const { state } = call.cloud.directory;
    if (project.is_domain === true) {
      if (project.domain_id) throw badRequest('only root projects are allowed to act as domains.');
      rejectDuplicates(call, 'projects', 'project', { ...project, domain_id: null });
      return { domain_id: null, parent_id: null };
    }
    const parent = project.parent_id ? state.projects.get(String(project.parent_id)) : undefined;
    const parentIsDomain = state.domains.has(String(project.parent_id));
    if (project.parent_id && !parent && !parentIsDomain)
      throw badRequest(`Could not find project: ${project.parent_id}.`);
    const domain = project.domain_id ?? (parentIsDomain ? project.parent_id : parent?.domain_id) ?? ownDomain(call);
    if (!state.domains.has(String(domain))) throw badRequest(`Could not find domain: ${domain}.`);
    const placed = { domain_id: domain, parent_id: project.parent_id ?? domain };
    rejectDuplicates(call, 'projects', 'project', { ...project, ...placed });
    return placed;
  },
  created(call, project) {
    // A project that acts as a domain is also a domain.
    if (project.is_domain === true)
      call.cloud.directory.state.domains.set(project.id, {
        ...(project as never as Wire),
        id: project.id,
        name: String(project.name),
      });
  },
  removing(call, project) {
    if (children(call, project.id).length > 0)
      throw forbidden(`Cannot delete the project ${project.id} since it is not a leaf in the hierarchy.`);
    if (project.is_domain === true) rejectEnabled(project, 'project acting as a domain');
    call.cloud.directory.state.domains.delete(project.is_domain === true ? project.id : '');
    call.cloud.directory.removeReferencesTo(project.id);
  },
  shows: (call, project) => ({
    ...(call.query.has('parents_as_list') && { parents: ancestors(call, project).map((one) => ({ project: one })) }),
    ...(call.query.has('subtree_as_list') && {
      subtree: descendants(call, project.id).map((one) => ({ project: one })),
    }),
    ...(call.query.has('parents_as_ids') && {
      parents: ancestors(call, project).reduceRight<Tree | null>((tree, { id }) => ({ [String(id)]: tree }), null),
    }),
    ...(call.query.has('subtree_as_ids') && { subtree: descendantIds(call, project.id) }),
  }),
};

const userHooks = namedInDomain('users', 'user');

/** Returns the fields that replace the password of a request by its hash. */
async function hashedPassword({ cloud }: Call, { password }: Wire): Promise<Wire> {
  return typeof password === 'string' ? { password: await cloud.directory.passwords.hash(password) } : {};
}

export const users: ResourceSpec = {
  path: 'users',
  one: 'user',
  many: 'users',
  filters: ['domain_id', 'enabled', 'name', 'default_project_id'],
  isVisible: ({ caller }, { id }) => id === caller.userId,
  admin: listsAndWrites,
  fields: () => ({
    id: derived(),
    name: required(settable(name)),
    domain_id: fixed(anyId, ownDomain),
    default_project_id: settable(anyId.nullable()),
    description: settable(nullableText),
    email: settable(z.string().nullable()),
    enabled: settable(flag, true),
    options: settable(UserOptions, () => ({})),
    password: settable(z.string().nullable(), undefined, { hidden: true }),
    password_expires_at: derived(null),
  }),
  ...userHooks,
  creating: async (call, user, resource) => ({
    ...(await hashedPassword(call, user)),
    ...(await userHooks.creating?.(call, user, resource)),
  }),
  async changing(call, before, change) {
    const hashed = await hashedPassword(call, change);
    const changed = await userHooks.changing?.(call, before, change);
    const { directory } = call.cloud;
    if (change.password !== undefined) directory.revokeTokensOf(before.id);
    // As in the original, every change of an enabled user unlocks the account.
    if ((change.enabled ?? before.enabled) !== false) directory.state.failedLogins.delete(before.id);
    return { ...hashed, ...changed };
  },
};

export const groups: ResourceSpec = {
  path: 'groups',
  one: 'group',
  many: 'groups',
  filters: ['domain_id', 'name'],
  admin: everything,
  revealsMissing: ['remove'],
  fields: () => ({
    ...common,
    domain_id: fixed(anyId, ownDomain),
    options: derived(),
    members: derived(() => [], { hidden: true }),
  }),
  ...namedInDomain('groups', 'group'),
};

export const roles: ResourceSpec = {
  path: 'roles',
  one: 'role',
  many: 'roles',
  filters: ['name', 'domain_id'],
  admin: everything,
  revealsMissing: ['show', 'change', 'remove'],
  lists: (call, { domain_id }) => call.query.has('domain_id') || (domain_id ?? null) === null,
  fields: () => ({ ...common, description: settable(nullableText), domain_id: fixed(anyId.nullable(), null) }),
  ...namedInDomain('roles', 'role'),
  routes: impliedRoleRoutes,
};
