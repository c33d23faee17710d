import { z } from 'zod';
import type { Call } from '../service/call.js';
import { created, del, get, noContent, openPost, put, Reply, type Route } from '../service/route.js';
import { forbidden, notFound, ServiceError } from '../service/service-error.js';
import { TextBody } from '../service/text-body.js';
import { formatMicrosUtc } from '../service/times.js';
import { authorize } from './authorize.js';
import { hasDelegatedToken } from './delegation.js';
import type { AccessToken } from './identity-records.js';
import { listOf } from './identity-style.js';
import { Login, logIn } from './login.js';
import { signedRequestOf } from './oauth-signature.js';
import {
  authorizeToken,
  createAccessToken,
  createRequestToken,
  findRequestToken,
  tokenBody,
  unauthorized,
} from './oauth-tokens.js';
import type { Action } from './policies.js';
import { RoleRef, resolveRoleId } from './role-ref.js';

const RolesBody = z.object({
  roles: z.array(RoleRef).default([]),
});

/** Returns the response for a new token, form-encoded as OAuth clients expect. */
const tokenResponse = (body: string) => created(new TextBody('application/x-www-form-urlencoded', body));

function rejectDelegated(call: Call, what: string): void {
  if (hasDelegatedToken(call)) throw forbidden(`Cannot ${what} with a token issued via delegation.`);
}

function authorizeRequestToken(call: Call) {
  authorize(call, 'authorize_request_token');
  rejectDelegated(call, 'authorize a request token');
  const { cloud, caller } = call;
  const { directory } = cloud;
  const token = findRequestToken(directory, call.param('token'));
  const roleIds = call.body(RolesBody).roles.map((role) => resolveRoleId(call, role));
  const assignedRoleIds = directory.roleIdsOf(caller.userId, { kind: 'project', id: token.projectId });
  if (!roleIds.every((id) => assignedRoleIds.includes(id)))
    throw unauthorized('authorizing user does not have role required');
  const verifier = authorizeToken(directory, token, caller.userId, [...new Set(roleIds)]);
  return { token: { oauth_verifier: verifier } };
}

/** Returns the routes for a user's access tokens and their roles. */
function accessTokenRoutes(): readonly Route[] {
  const tokensPath = '/v3/users/:user/OS-OAUTH1/access_tokens';
  const tokenPath = `${tokensPath}/:token`;

  function accessTokenView({ base }: Call, { id, consumerId, userId, projectId, expiresAt }: AccessToken) {
    const self = `${base}/v3/users/${userId}/OS-OAUTH1/access_tokens/${id}`;
    return {
      id,
      consumer_id: consumerId,
      authorizing_user_id: userId,
      project_id: projectId,
      expires_at: formatMicrosUtc(expiresAt),
      links: { self, roles: `${self}/roles` },
    };
  }

  function findToken(call: Call, action: Action): AccessToken {
    authorize(call, action);
    rejectDelegated(call, 'manage OAuth access tokens');
    const token = call.cloud.directory.state.accessTokens.get(call.param('token'));
    if (token?.userId !== call.param('user')) throw notFound('Access token not found');
    return token;
  }

  const rolesOf = (call: Call, action: Action) =>
    findToken(call, action).roleIds.flatMap((id) => call.cloud.directory.state.roles.get(id) ?? []);

  return [
    get(tokensPath, (call) => {
      authorize(call, 'list_access_tokens');
      rejectDelegated(call, 'manage OAuth access tokens');
      const tokens = [...call.cloud.directory.state.accessTokens.values()];
      const userTokens = tokens.filter(({ userId }) => userId === call.param('user'));
      return listOf(
        'access_tokens',
        call,
        userTokens.map((token) => accessTokenView(call, token)),
      );
    }),
    get(tokenPath, (call) => ({ access_token: accessTokenView(call, findToken(call, 'get_access_token')) })),
    del(tokenPath, (call) => {
      // As in Keystone, the policy for deleting EC2 credentials applies.
      call.cloud.directory.state.accessTokens.delete(findToken(call, 'ec2_delete_credential').id);
      return noContent();
    }),
    get(`${tokenPath}/roles`, (call) => listOf('roles', call, rolesOf(call, 'list_access_token_roles'))),
    get(`${tokenPath}/roles/:role`, (call) => {
      const role = rolesOf(call, 'get_access_token_role').find(({ id }) => id === call.param('role'));
      if (!role) throw notFound(`Could not find role: ${call.param('role')}.`);
      return { role };
    }),
  ];
}

const MAX_FORM_BYTES = 65_536;

/** Returns the fields of a form-encoded body. A body that is too long is truncated, so fields may be missing. */
async function readForm({ req }: Call): Promise<URLSearchParams> {
  let text = '';
  req.setEncoding('utf8');
  for await (const chunk of req) if (text.length < MAX_FORM_BYTES) text += chunk;
  return new URLSearchParams(text);
}

const oauth2Error = (status: number, error: string, error_description: string) =>
  new Reply(status, { error, error_description });

/** Issues a token for an application credential, sent as OAuth 2.0 client credentials (RFC 6749, section 4.4). */
async function oauth2Token(call: Call): Promise<Reply> {
  const form = await readForm(call);
  const grantType = form.get('grant_type');
  if (grantType === null) return oauth2Error(400, 'invalid_request', 'The parameter grant_type is required.');
  if (grantType !== 'client_credentials')
    return oauth2Error(400, 'unsupported_grant_type', `The parameter grant_type ${grantType} is not supported.`);
  const basicCredentials = /^Basic (\S+)$/i.exec(call.req.get('Authorization') ?? '')?.[1];
  const [id, ...rest] = basicCredentials
    ? Buffer.from(basicCredentials, 'base64').toString().split(':')
    : [form.get('client_id')];
  const secret = basicCredentials ? rest.join(':') : form.get('client_secret');
  const identity = { methods: ['application_credential'], application_credential: { id, secret } };
  const login = Login.safeParse({ auth: { identity } });
  if (!id || !secret || !login.success) return oauth2Error(401, 'invalid_client', 'Client authentication failed.');
  try {
    const token = await logIn(call.cloud.directory, login.data.auth, signedRequestOf(call));
    const expires_in = Math.round((token.expiresAt - token.issuedAt) / 1000);
    return new Reply(200, { access_token: token.id, token_type: 'Bearer', expires_in });
  } catch (error) {
    if (error instanceof ServiceError && error.status === 401) return oauth2Error(401, 'invalid_client', error.message);
    throw error;
  }
}

/** Returns the routes for OAuth 1.0a (RFC 5849), which delegates roles, and for OAuth 2.0 client credentials. */
export function oauthRoutes(): readonly Route[] {
  return [
    openPost('/v3/OS-OAUTH1/request_token', (call) => {
      const projectId = call.req.get('Requested-Project-Id');
      return tokenResponse(tokenBody(createRequestToken(call.cloud.directory, signedRequestOf(call), projectId)));
    }),
    put('/v3/OS-OAUTH1/authorize/:token', authorizeRequestToken),
    openPost('/v3/OS-OAUTH1/access_token', (call) =>
      tokenResponse(tokenBody(createAccessToken(call.cloud.directory, signedRequestOf(call)))),
    ),
    openPost('/v3/OS-OAUTH2/token', oauth2Token),
    ...accessTokenRoutes(),
  ];
}
