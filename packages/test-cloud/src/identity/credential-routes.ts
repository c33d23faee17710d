import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { filtered } from '../service/listing.js';
import { created, del, get, noContent, post, type Route } from '../service/route.js';
import { badRequest, conflict, notFound, ServiceError } from '../service/service-error.js';
import { micros } from '../service/times.js';
import { listOf } from './collection.js';
import { type Directory, newId } from './directory.js';
import type { ApplicationCredential } from './identity-records.js';

const NewCredential = z.object({
  application_credential: z.object({
    name: z.string().min(1).max(255),
    description: z.string().nullish(),
    secret: z.string().nullish(),
    expires_at: z.string().nullish(),
    unrestricted: z.boolean().nullish(),
    roles: z.array(z.object({ id: z.string().optional(), name: z.string().optional() })).nullish(),
  }),
});

const Passwords = z.object({ user: z.object({ password: z.string(), original_password: z.string() }) });

/** Application credentials and passwords: what users keep of their own. */
export function credentialRoutes(directory: Directory): readonly Route[] {
  function show(call: Call, credential: ApplicationCredential) {
    const { id, name, description, projectId, roleIds, expiresAt, unrestricted, userId } = credential;
    return {
      id,
      name,
      description,
      project_id: projectId,
      user_id: userId,
      system: null,
      roles: roleIds.map((roleId) => directory.state.roles.get(roleId)),
      expires_at: expiresAt === null ? null : micros(expiresAt),
      unrestricted,
      links: { self: `${call.base}/v3/users/${userId}/application_credentials/${id}` },
    };
  }

  function owner(call: Call): string {
    const userId = call.param('user');
    if (userId !== call.caller.userId) call.requireAdmin();
    return userId;
  }

  function find(call: Call): ApplicationCredential {
    const credential = directory.state.credentials.get(call.param('id'));
    if (credential?.userId !== owner(call))
      throw notFound(`Could not find Application Credential: ${call.param('id')}.`);
    return credential;
  }

  const path = '/v3/users/:user/application_credentials';
  return [
    get(path, (call) => {
      const userId = owner(call);
      const mine = [...directory.state.credentials.values()].filter((credential) => credential.userId === userId);
      return listOf(
        'application_credentials',
        call,
        filtered(
          mine.map((c) => show(call, c)),
          call.query,
          ['name'],
        ),
      );
    }),
    post(path, (call) => {
      const { caller } = call;
      const userId = owner(call);
      const wanted = call.body(NewCredential).application_credential;
      const held = directory.roleIdsOf(userId, { kind: 'project', id: caller.projectId });
      const roleIds = wanted.roles?.length
        ? wanted.roles.map(({ id, name }) => id ?? directory.role(name ?? '').id)
        : held;
      if (!roleIds.every((id) => held.includes(id)))
        throw badRequest('A role is not held by the user in this project.');
      const taken = [...directory.state.credentials.values()].some(
        (c) => c.userId === userId && c.name === wanted.name,
      );
      if (taken)
        throw conflict(`Conflict occurred attempting to store application_credential - ${wanted.name} exists.`);
      const credential: ApplicationCredential = {
        id: newId(),
        name: wanted.name,
        description: wanted.description ?? '',
        secret: wanted.secret ?? randomBytes(32).toString('base64url'),
        userId,
        projectId: caller.projectId,
        roleIds,
        expiresAt: wanted.expires_at ? Date.parse(`${wanted.expires_at.replace(/Z$/, '')}Z`) : null,
        unrestricted: wanted.unrestricted ?? false,
      };
      directory.state.credentials.set(credential.id, credential);
      return created({ application_credential: { ...show(call, credential), secret: credential.secret } });
    }),
    get(`${path}/:id`, (call) => ({ application_credential: show(call, find(call)) })),
    del(`${path}/:id`, (call) => {
      directory.state.credentials.delete(find(call).id);
      return noContent();
    }),
    post('/v3/users/:user/password', (call) => {
      const user = directory.state.users.get(owner(call));
      const { password, original_password: before } = call.body(Passwords).user;
      if (!user || user.password !== before) throw new ServiceError(401, 'The password does not match.');
      directory.state.users.set(user.id, { ...user, password });
      return noContent();
    }),
  ];
}
