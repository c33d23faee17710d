import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, type Fields, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest, forbidden } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { checkFederated, FederatedAccounts } from './federated-users.js';
import { flag, nameUpTo, nullableText, recordId, rejectDuplicateId, uuid } from './identity-types.js';
import { impliedRoleRoutes } from './implied-roles.js';
import { domainOfNewRecords, rejectDuplicates, requireMutable, uniqueNameHooks } from './named-in-domain.js';
import {
  ancestorProjects,
  checkParentDomain,
  checkProjectChange,
  checkProjectParents,
  childProjects,
  descendantProjects,
} from './project-hierarchy.js';
import { projectTagRoutes, Tags } from './project-tag-routes.js';
import { UserOptions } from './user-options.js';

const longName = nameUpTo(255);
/** The name of a domain or project. Names of users, groups and roles may be longer. */
const shortName = nameUpTo(64);

const commonFields: Fields = {
  id: derived(),
  name: required(settable(longName)),
  description: settable(nullableText, ''),
  options: settable(z.strictObject({ immutable: z.boolean().nullish() }), () => ({})),
};

function rejectEnabled({ enabled }: Doc, what: string): void {
  if (enabled !== false) throw forbidden(`Cannot delete a ${what} that is enabled, please disable it first.`);
}

export const domains: ResourceSpec = {
  path: 'domains',
  one: 'domain',
  many: 'domains',
  filters: ['name', 'enabled'],
  revealsMissing: ['change', 'remove'],
  fields: () => ({
    ...commonFields,
    name: required(settable(shortName)),
    description: settable(z.string().max(255).nullable(), ''),
    explicit_domain_id: fixed(recordId, undefined, { hidden: true }),
    enabled: settable(flag, true),
    tags: settable(Tags, () => []),
  }),
  ...uniqueNameHooks('domains', 'domain'),
  creating(call, domain) {
    const { explicit_domain_id: id, ...others } = domain;
    rejectDuplicates(call, 'domains', 'domain', others);
    if (id === undefined) return undefined;
    if (!uuid.safeParse(id).success) throw badRequest('Domain ID does not conform to required UUID format.');
    rejectDuplicateId(call, 'domains', 'domain', id);
    return { id, explicit_domain_id: undefined };
  },
  removing(call, domain) {
    requireMutable('domain', domain);
    rejectEnabled(domain, 'domain');
    const { directory, documents } = call.cloud;
    for (const many of ['projects', 'users', 'groups', 'roles', 'identity_providers'])
      for (const doc of documents.table<Doc>(`identity/${many}`).values())
        if (doc.domain_id === domain.id || doc.id === domain.id) {
          documents.table(`identity/${many}`).delete(doc.id);
          directory.removeReferencesTo(doc.id);
        }
    directory.removeReferencesTo(domain.id);
  },
};

type ProjectTree = { readonly [id: string]: ProjectTree | null };

function descendantTree(call: Call, id: unknown): ProjectTree | null {
  const projects = childProjects(call, id);
  return projects.length === 0
    ? null
    : Object.fromEntries(projects.map((project) => [project.id, descendantTree(call, project.id)]));
}

const projectHooks = uniqueNameHooks('projects', 'project');

export const projects: ResourceSpec = {
  path: 'projects',
  one: 'project',
  many: 'projects',
  tags: 'filters',
  routes: projectTagRoutes,
  filters: ['domain_id', 'enabled', 'name', 'parent_id', 'is_domain'],
  lists: (call, { is_domain }) => call.query.has('is_domain') || is_domain !== true,
  fields: () => ({
    ...commonFields,
    name: required(settable(shortName)),
    domain_id: settable(recordId.nullable()),
    parent_id: settable(recordId.nullable()),
    enabled: settable(flag, true),
    is_domain: settable(flag, false),
    tags: settable(Tags, () => []),
  }),
  ...projectHooks,
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
    const domain =
      project.domain_id ?? (parentIsDomain ? project.parent_id : parent?.domain_id) ?? domainOfNewRecords(call);
    if (!state.domains.has(String(domain))) throw badRequest(`Could not find domain: ${domain}.`);
    const hierarchyFields = { domain_id: domain, parent_id: project.parent_id ?? domain };
    rejectDuplicates(call, 'projects', 'project', { ...project, ...hierarchyFields });
    checkParentDomain(hierarchyFields, parent);
    checkProjectParents(call, hierarchyFields.parent_id);
    return hierarchyFields;
  },
  changing(call, before, change) {
    checkProjectChange(call, before, change);
    return projectHooks.changing?.(call, before, change);
  },
  created(call, project) {
    // A project that acts as a domain also has a domain record.
    if (project.is_domain === true)
      call.cloud.directory.state.domains.set(project.id, {
        ...(project as never as Wire),
        id: project.id,
        name: String(project.name),
      });
  },
  removing(call, project) {
    requireMutable('project', project);
    if (childProjects(call, project.id).length > 0)
      throw forbidden(`Cannot delete the project ${project.id} since it is not a leaf in the hierarchy.`);
    if (project.is_domain === true) rejectEnabled(project, 'project acting as a domain');
    call.cloud.directory.state.domains.delete(project.is_domain === true ? project.id : '');
    call.cloud.directory.removeReferencesTo(project.id);
  },
  shows: (call, project) => ({
    ...(call.query.has('parents_as_list') && {
      parents: ancestorProjects(call, project).map((one) => ({ project: one })),
    }),
    ...(call.query.has('subtree_as_list') && {
      subtree: descendantProjects(call, project.id).map((one) => ({ project: one })),
    }),
    ...(call.query.has('parents_as_ids') && {
      parents: ancestorProjects(call, project).reduceRight<ProjectTree | null>(
        (tree, { id }) => ({ [String(id)]: tree }),
        null,
      ),
    }),
    ...(call.query.has('subtree_as_ids') && { subtree: descendantTree(call, project.id) }),
  }),
};

const userHooks = uniqueNameHooks('users', 'user');

/** Returns the fields that store the hash of a request's password: none if the request contains no password. */
async function hashPassword({ cloud }: Call, { password }: Wire): Promise<Wire> {
  return typeof password === 'string' ? { password: await cloud.directory.passwords.hash(password) } : {};
}

export const users: ResourceSpec = {
  path: 'users',
  one: 'user',
  many: 'users',
  // Hashing a password takes a long time, so changes to other users do not wait for it.
  serializedBy: { create: 'none', change: 'resource' },
  filters: ['domain_id', 'enabled', 'name', 'default_project_id'],
  fields: () => ({
    id: derived(),
    name: required(settable(longName)),
    domain_id: settable(recordId, domainOfNewRecords),
    default_project_id: settable(nullableText),
    description: settable(nullableText),
    federated: settable(FederatedAccounts),
    enabled: settable(flag, true),
    options: settable(UserOptions, () => ({})),
    password: settable(nullableText, undefined, { hidden: true }),
    password_expires_at: derived(null),
  }),
  ...userHooks,
  shows: (_call, { default_project_id, federated }) => ({
    ...(default_project_id === null && { default_project_id: undefined }),
    ...((federated as readonly unknown[] | undefined)?.length === 0 && { federated: undefined }),
  }),
  async creating(call, user, resource) {
    checkFederated(call, user);
    return { ...(await hashPassword(call, user)), ...(await userHooks.creating?.(call, user, resource)) };
  },
  async changing(call, before, change) {
    checkFederated(call, change);
    const passwordFields = await hashPassword(call, change);
    const changedFields = await userHooks.changing?.(call, before, change);
    const { directory } = call.cloud;
    if (change.password !== undefined) directory.revokeTokensOf(before.id);
    // As in Keystone, every change to an enabled user unlocks the account.
    if ((change.enabled ?? before.enabled) !== false) directory.state.failedLogins.delete(before.id);
    return { ...passwordFields, ...changedFields };
  },
};

export const groups: ResourceSpec = {
  path: 'groups',
  one: 'group',
  many: 'groups',
  filters: ['domain_id', 'name'],
  revealsMissing: ['remove'],
  fields: () => ({
    ...commonFields,
    domain_id: settable(recordId, domainOfNewRecords),
    options: derived(),
    members: derived(() => [], { hidden: true }),
  }),
  ...uniqueNameHooks('groups', 'group'),
};

export const roles: ResourceSpec = {
  path: 'roles',
  one: 'role',
  many: 'roles',
  filters: ['name', 'domain_id'],
  revealsMissing: ['show', 'change', 'remove'],
  lists: (call, { domain_id }) => call.query.has('domain_id') || (domain_id ?? null) === null,
  fields: () => ({
    ...commonFields,
    description: settable(nullableText, null),
    domain_id: settable(recordId.nullable(), null),
  }),
  ...uniqueNameHooks('roles', 'role'),
  routes: impliedRoleRoutes,
};
