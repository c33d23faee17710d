import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { filterByQuery } from '../service/listing.js';
import { created, del, get, noContent, openPost, post, type Route } from '../service/route.js';
import { badRequest, conflict, forbidden, notFound } from '../service/service-error.js';
import { formatMicros } from '../service/times.js';
import { authorize } from './authorize.js';
import { rejectApplicationCredentials, rejectTrustAndOAuthTokens } from './delegation.js';
import type { ApplicationCredential, StoredAccessRule } from './identity-records.js';
import { listOf } from './identity-style.js';
import { nameUpTo, recordId } from './identity-types.js';
import { isPasswordOf } from './lockout.js';
import { authenticationError } from './login.js';
import { newId } from './new-id.js';
import type { Action } from './policies.js';
import { authorizeById } from './record-policy.js';
import { RoleRef, resolveRoleId } from './role-ref.js';
import { Timestamp } from './timestamp.js';
import type { UserOptions } from './user-options.js';

const PASSWORD_LOCKED_MESSAGE =
  'You cannot change your password at this time due to password policy disallowing password changes. Please contact your administrator to reset your password.';

const NewRule = z.union([
  z.object({
    path: z.string().startsWith('/').max(225),
    method: z.enum(['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT']),
    service: recordId,
  }),
  z.object({ id: recordId }),
]);
type NewRule = z.infer<typeof NewRule>;

const NewCredential = z.object({
  application_credential: z.strictObject({
    id: z.string().optional(),
    name: nameUpTo(255),
    description: z.string().nullish(),
    secret: z.string().nullish(),
    expires_at: Timestamp.nullish(),
    unrestricted: z.boolean().nullish(),
    project_id: z.string().optional(),
    system: z.string().nullish(),
    roles: z.array(RoleRef).optional(),
    access_rules: z.array(NewRule).optional(),
  }),
});

const PasswordChange = z.object({ user: z.object({ password: z.string(), original_password: z.string() }) });

/** Returns the routes of application credentials, access rules and password changes. */
export function applicationCredentialRoutes(): readonly Route[] {
  function credentialView(call: Call, credential: ApplicationCredential) {
    const { id, name, description, projectId, roleIds, expiresAt, unrestricted, userId } = credential;
    return {
      id,
      name,
      description,
      project_id: projectId,
      user_id: userId,
      system: null,
      roles: roleIds.map((roleId) => call.cloud.directory.state.roles.get(roleId)),
      expires_at: expiresAt === null ? null : formatMicros(expiresAt),
      unrestricted,
      ...(credential.accessRules && { access_rules: credential.accessRules }),
      links: { self: `${call.base}/v3/users/${userId}/application_credentials/${id}` },
    };
  }

  /** Returns the user ID in the path after authorizing an action on the user's application credentials. */
  function credentialOwnerId(call: Call, action: Action): string {
    const userId = call.param('user');
    authorize(call, action, { owner: userId });
    rejectTrustAndOAuthTokens(call, 'application credentials');
    return userId;
  }

  /** Returns the user ID in the path after authorizing an action on the user's access rules. */
  function ruleOwnerId(call: Call, action: Action): string {
    const userId = call.param('user');
    authorizeById(call, action, 'users', userId);
    rejectTrustAndOAuthTokens(call, 'application credentials');
    return userId;
  }

  const ruleWithLinks = (call: Call, rule: StoredAccessRule) => ({
    ...ruleView(rule),
    links: { self: `${call.base}/v3/users/${call.param('user')}/access_rules/${rule.id}` },
  });

  /** Returns the application credential in the path. Its owner may differ from the user in the path. */
  function findCredential(call: Call, action: Action): ApplicationCredential {
    const credential = call.cloud.directory.state.credentials.get(call.param('id'));
    authorize(call, action, { owner: credential?.userId ?? call.param('user') });
    rejectTrustAndOAuthTokens(call, 'application credentials');
    if (!credential) throw notFound(`Could not find Application Credential: ${call.param('id')}.`);
    return credential;
  }

  const ruleTable = (call: Call) =>
    call.cloud.documents.table<StoredAccessRule & { user_id: string }>('identity/access-rules');
  const ruleView = ({ id, path: rulePath, method, service }: StoredAccessRule): StoredAccessRule => ({
    id,
    path: rulePath,
    method,
    service,
  });

  /** Returns the user's access rule with the requested ID or content. Creates a missing rule from its content. */
  function findOrCreateRule(call: Call, userId: string, requested: NewRule): StoredAccessRule {
    const ownRules = [...ruleTable(call).values()].filter(({ user_id }) => user_id === userId);
    const existingRule = ownRules.find((rule) =>
      'id' in requested
        ? rule.id === requested.id
        : rule.path === requested.path && rule.method === requested.method && rule.service === requested.service,
    );
    if (existingRule) return ruleView(existingRule);
    if ('id' in requested) throw notFound(`Could not find Access Rule: ${requested.id}.`);
    const newRule = { ...requested, id: newId() };
    ruleTable(call).set(newRule.id, { ...newRule, user_id: userId });
    return newRule;
  }

  function findRule(call: Call, action: Action): StoredAccessRule {
    const userId = ruleOwnerId(call, action);
    const rule = ruleTable(call).get(call.param('rule'));
    if (rule?.user_id !== userId) throw notFound(`Could not find Access Rule: ${call.param('rule')}.`);
    return rule;
  }

  const path = '/v3/users/:user/application_credentials';
  return [
    get(path, (call) => {
      const userId = credentialOwnerId(call, 'list_application_credentials');
      const ownCredentials = [...call.cloud.directory.state.credentials.values()].filter(
        (credential) => credential.userId === userId,
      );
      return listOf(
        'application_credentials',
        call,
        filterByQuery(
          ownCredentials.map((c) => credentialView(call, c)),
          call.query,
          ['name'],
        ),
      );
    }),
    post(path, async (call) => {
      const { caller } = call;
      const userId = credentialOwnerId(call, 'create_application_credential');
      rejectApplicationCredentials(call, 'additional application credentials');
      const requested = call.body(NewCredential).application_credential;
      const secret = requested.secret ?? randomBytes(64).toString('base64url');
      // The checks follow the slow hash computation, so that their results still hold when the credential is stored.
      const secretHash = await call.cloud.directory.passwords.hash(secret);
      const assignedRoleIds = call.cloud.directory.roleIdsOf(userId, { kind: 'project', id: caller.projectId });
      const roleIds = requested.roles?.length
        ? call.cloud.directory.includeImpliedRoleIds(requested.roles.map((role) => resolveRoleId(call, role)))
        : assignedRoleIds;
      if (!roleIds.every((id) => assignedRoleIds.includes(id)))
        throw badRequest(
          'Invalid application credential: Cannot create an application credential with unassigned role',
        );
      if (requested.expires_at != null && requested.expires_at <= call.cloud.directory.now())
        throw badRequest('The requested expiration date is in the past.');
      const isNameUsed = [...call.cloud.directory.state.credentials.values()].some(
        (c) => c.userId === userId && c.name === requested.name,
      );
      if (isNameUsed)
        throw conflict(
          `Conflict occurred attempting to store application_credential - Duplicate entry found with name ${requested.name}.`,
        );
      const credential: ApplicationCredential = {
        id: newId(),
        name: requested.name,
        description: requested.description ?? null,
        secret: secretHash,
        userId,
        projectId: caller.projectId,
        roleIds,
        expiresAt: requested.expires_at ?? null,
        unrestricted: requested.unrestricted ?? false,
        accessRules: requested.access_rules?.length
          ? requested.access_rules.map((rule) => findOrCreateRule(call, userId, rule))
          : null,
      };
      call.cloud.directory.state.credentials.set(credential.id, credential);
      return created({ application_credential: { ...credentialView(call, credential), secret } });
    }),
    get(`${path}/:id`, (call) => ({
      application_credential: credentialView(call, findCredential(call, 'get_application_credential')),
    })),
    del(`${path}/:id`, (call) => {
      const { id } = findCredential(call, 'delete_application_credential');
      rejectApplicationCredentials(call, 'additional application credentials');
      call.cloud.directory.state.credentials.delete(id);
      return noContent();
    }),
    get('/v3/users/:user/access_rules', (call) => {
      const userId = ruleOwnerId(call, 'list_access_rules');
      const ownRules = [...ruleTable(call).values()].filter(({ user_id }) => user_id === userId);
      return listOf(
        'access_rules',
        call,
        filterByQuery(
          ownRules.map((rule) => ruleWithLinks(call, rule)),
          call.query,
          ['service', 'path', 'method'],
        ),
      );
    }),
    get('/v3/users/:user/access_rules/:rule', (call) => ({
      access_rule: ruleWithLinks(call, findRule(call, 'get_access_rule')),
    })),
    del('/v3/users/:user/access_rules/:rule', (call) => {
      const { id } = findRule(call, 'delete_access_rule');
      const isRuleUsed = [...call.cloud.directory.state.credentials.values()].some(({ accessRules }) =>
        accessRules?.some((rule) => rule.id === id),
      );
      if (isRuleUsed) throw forbidden('May not delete access rule in use');
      ruleTable(call).delete(id);
      return noContent();
    }),
    openPost('/v3/users/:user/password', async (call) => {
      const { directory } = call.cloud;
      const user = directory.state.users.get(call.param('user'));
      const { password, original_password: originalPassword } = call.body(PasswordChange).user;
      const isCorrect = await isPasswordOf(directory, user, originalPassword);
      if (!user || !isCorrect) throw authenticationError();
      if ((user.options as UserOptions | undefined)?.lock_password) throw badRequest(PASSWORD_LOCKED_MESSAGE);
      const passwordHash = await directory.passwords.hash(password);
      const currentUser = directory.state.users.get(user.id);
      // While the hash was computed, the user may have been deleted or may have received a new password.
      if (!currentUser || currentUser.password !== user.password) throw authenticationError();
      directory.setPassword(currentUser, passwordHash);
      return noContent();
    }),
  ];
}
