import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { created, del, get, noContent, post, type Route } from '../service/route.js';
import { badRequest, forbidden, notFound } from '../service/service-error.js';
import { microsZ } from '../service/times.js';
import { without } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { anyId, strictFlag, text } from '../service/wire-types.js';
import { listOf } from './identity-style.js';
import { newId } from './new-id.js';
import { Timestamp } from './timestamp.js';

const anonymous = [] as const;
const credentialTable = ({ cloud }: Call) => cloud.documents.table<Doc>('identity/credentials');
const idOfKey = (access: string) => createHash('sha256').update(access).digest('hex');

/** Returns the credential with an EC2 access key. */
export function credentialOfKey(call: Call, access: string): Doc | undefined {
  const credential = credentialTable(call).get(idOfKey(access));
  return credential?.type === 'ec2' ? credential : undefined;
}

/** Credentials that users store in the identity service. */
const credentials: ResourceSpec = {
  path: 'credentials',
  one: 'credential',
  many: 'credentials',
  filters: ['user_id', 'type'],
  admin: anonymous,
  isVisible: ({ caller }, { user_id }) => user_id === caller.userId,
  fields: () => ({
    id: derived(),
    blob: required(settable(z.union([z.string(), z.record(z.string(), z.unknown())]))),
    type: required(settable(text)),
    user_id: settable(anyId, ({ caller }: Call) => caller.userId),
    project_id: settable(anyId.nullable(), null),
  }),
  creating(call, { type, blob, project_id, user_id }) {
    if (user_id !== call.caller.userId) call.requireAdmin();
    const remaining = typeof blob === 'string' ? blob : JSON.stringify(blob);
    if (type !== 'ec2') return { blob: remaining };
    if (!project_id) throw badRequest('Expecting to find project_id in credential.');
    const access = accessKeyOf(remaining);
    if (!access) throw badRequest('Expecting to find valid JSON in credential blob.');
    return { id: idOfKey(access), blob: remaining };
  },
};

function accessKeyOf(blob: string): string | undefined {
  try {
    const { access } = JSON.parse(blob) as { access?: unknown };
    return typeof access === 'string' ? access : undefined;
  } catch {
    return undefined;
  }
}

/** EC2 key pairs for clients without token support: credentials of a separate type. */
function ec2Routes(): readonly Route[] {
  const path = '/v3/users/:user_id/credentials/OS-EC2';

  function owner(call: Call): string {
    const id = call.param('user_id');
    if (id !== call.caller.userId) call.requireAdmin();
    if (!call.cloud.directory.state.users.has(id)) throw notFound(`Could not find user: ${id}.`);
    return id;
  }

  function show(call: Call, { user_id, project_id, blob }: Doc): Wire {
    const { access, secret } = JSON.parse(String(blob)) as Record<string, string>;
    const links = { self: `${call.base}/v3/users/${user_id}/credentials/OS-EC2/${access}` };
    return { user_id, tenant_id: project_id, access, secret, trust_id: null, links };
  }

  function find(call: Call): Doc {
    const credential = credentialOfKey(call, call.param('access'));
    if (credential?.user_id !== owner(call)) throw notFound(`Could not find credential: ${call.param('access')}.`);
    return credential;
  }

  return [
    get(path, (call) => {
      const userId = owner(call);
      const mine = [...credentialTable(call).values()].filter(
        ({ type, user_id }) => type === 'ec2' && user_id === userId,
      );
      return listOf(
        'credentials',
        call,
        mine.map((credential) => show(call, credential)),
      );
    }),
    post(path, (call) => {
      const user_id = owner(call);
      const { tenant_id } = call.body(z.object({ tenant_id: anyId }));
      if (!call.cloud.directory.state.projects.has(tenant_id)) throw notFound(`Could not find project: ${tenant_id}.`);
      const access = newId();
      const blob = JSON.stringify({ access, secret: newId(), trust_id: null });
      const credential = { id: idOfKey(access), user_id, project_id: tenant_id, type: 'ec2', blob };
      credentialTable(call).set(credential.id, credential);
      return created({ credential: show(call, credential) });
    }),
    get(`${path}/:access`, (call) => ({ credential: show(call, find(call)) })),
    del(`${path}/:access`, (call) => {
      credentialTable(call).delete(find(call).id);
      return noContent();
    }),
  ];
}

const role = z.object({ id: anyId.optional(), name: text.optional() });
const moment = Timestamp.transform(microsZ);

const fullRole = (call: Call, id: unknown): Wire => ({
  ...call.cloud.directory.state.roles.get(String(id)),
  links: { self: `${call.base}/v3/roles/${id}` },
});

/** Trusts: a user delegates some of its roles to another user for a limited time. */
const trusts: ResourceSpec = {
  path: 'OS-TRUST/trusts',
  one: 'trust',
  many: 'trusts',
  filters: ['trustor_user_id', 'trustee_user_id'],
  verbs: ['list', 'show', 'create', 'remove'],
  admin: anonymous,
  revealsMissing: true,
  views: { list: without('roles', 'roles_links') },
  isVisible: ({ caller }, { trustor_user_id, trustee_user_id }) =>
    [trustor_user_id, trustee_user_id].includes(caller.userId),
  fields: () => ({
    id: derived(),
    trustor_user_id: required(fixed(anyId)),
    trustee_user_id: required(fixed(anyId)),
    project_id: fixed(anyId.nullable(), null),
    impersonation: required(fixed(strictFlag)),
    roles: fixed(z.array(role), () => []),
    expires_at: fixed(moment.nullable(), null),
    remaining_uses: fixed(z.number().int().min(1).nullable(), null),
    allow_redelegation: fixed(strictFlag.nullable(), false, { hidden: true }),
    redelegation_count: fixed(z.number().int().min(0).nullable(), 0),
    deleted_at: derived(null),
  }),
  creating({ caller, cloud }, trust) {
    const { directory } = cloud;
    if (trust.trustor_user_id !== caller.userId)
      throw forbidden(
        'You are not authorized to perform the requested action: The authenticated user should match the trustor.',
      );
    if (trust.expires_at && Date.parse(String(trust.expires_at)) <= directory.now())
      throw badRequest('The requested expiration date is in the past.');
    if (!directory.state.users.has(String(trust.trustee_user_id)))
      throw notFound(`Could not find user: ${trust.trustee_user_id}.`);
    const requested = trust.roles as readonly z.infer<typeof role>[];
    if (trust.project_id && requested.length === 0)
      throw forbidden('You are not authorized to perform the requested action: At least one role should be specified.');
    const held = directory.roleIdsOf(caller.userId, { kind: 'project', id: String(trust.project_id) });
    const all = [...directory.state.roles.values()];
    const roles = requested.map(({ id, name }) => {
      const one = all.find((other) => (id === undefined ? other.name === name : other.id === id));
      if (!one || !held.includes(one.id)) throw notFound(`Could not find role: ${id ?? name}.`);
      return { id: one.id, name: one.name };
    });
    return { roles };
  },
  shows: (call, { id, roles }) => ({
    roles: (roles as readonly Wire[]).map((one) => fullRole(call, one.id)),
    roles_links: { self: `${call.base}/v3/OS-TRUST/trusts/${id}/roles`, next: null, previous: null },
  }),
  routes: (resource) => trustRoleRoutes(resource),
};

function trustRoleRoutes(resource: Resource): readonly Route[] {
  const rolesOf = async (call: Call) => {
    const { roles } = await resource.find(call, call.param('id'));
    return (roles as readonly Wire[]).map(({ id }) => fullRole(call, id));
  };
  return [
    get('/v3/OS-TRUST/trusts/:id/roles', async (call) => listOf('roles', call, await rolesOf(call))),
    get('/v3/OS-TRUST/trusts/:id/roles/:role', async (call) => {
      const one = (await rolesOf(call)).find(({ id }) => id === call.param('role'));
      if (!one) throw notFound(`Could not find role: ${call.param('role')}.`);
      return { role: one };
    }),
  ];
}

/** Credentials and trusts. */
export const credentialResources: readonly ResourceSpec[] = [{ ...credentials, routes: ec2Routes }, trusts];
