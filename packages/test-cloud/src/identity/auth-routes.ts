import type { Call } from '../service/call.js';
import { del, get, noContent, openPost, Reply, type Route } from '../service/route.js';
import { forbidden, notFound } from '../service/service-error.js';
import { authorize } from './authorize.js';
import { catalogFor } from './catalog.js';
import type { Token } from './identity-records.js';
import { listOf } from './identity-style.js';
import { Login, logIn } from './login.js';
import { signedRequestOf } from './oauth-signature.js';
import type { Action } from './policies.js';
import { authorizeById } from './record-policy.js';
import { tokenView } from './token-view.js';

/** Returns the routes for authentication, tokens and the scopes that are available to a caller. */
export function authRoutes(): readonly Route[] {
  function tokenResponse(call: Call, token: Token, status: number): Reply {
    const cloudUrl = call.query.has('nocatalog') ? undefined : call.cloudBase;
    const body = { token: tokenView(call.cloud, token, cloudUrl) };
    return new Reply(status, body, { 'X-Subject-Token': token.id, Vary: 'X-Auth-Token' });
  }

  /** Returns the token in `X-Subject-Token` after authorizing an action on it. */
  function subjectToken(call: Call, action: Action): Token {
    const token = call.cloud.directory.token(call.req.header('x-subject-token') ?? '');
    if (!token) throw notFound('Could not find token.');
    authorize(call, action, { owner: token.userId });
    return token;
  }

  /**
   * Validates the token in `X-Subject-Token`. A token with access rules is valid only for services that enforce these
   * rules.
   */
  function validateToken(call: Call): Reply {
    const token = subjectToken(call, call.req.method === 'HEAD' ? 'check_token' : 'validate_token');
    const credential = call.cloud.directory.state.credentials.get(token.applicationCredentialId ?? '');
    if (credential?.accessRules && !(Number(call.req.header('openstack-identity-access-rules')) >= 1))
      throw notFound('Failed to validate token');
    return tokenResponse(call, token, 200);
  }

  const projects = (call: Call) => listOf('projects', call, call.cloud.directory.projectsOf(call.caller.userId));

  function domains(call: Call) {
    const { directory } = call.cloud;
    const allDomains = [...directory.state.domains.values()];
    return listOf(
      'domains',
      call,
      allDomains.filter(({ id }) => directory.roleIdsOf(call.caller.userId, { kind: 'domain', id }).length > 0),
    );
  }

  const selfLinks = (call: Call, name: string) => ({ links: { self: `${call.base}/v3/auth/${name}` } });

  return [
    openPost('/v3/auth/tokens', async (call) =>
      tokenResponse(call, await logIn(call.cloud.directory, call.body(Login).auth, signedRequestOf(call)), 201),
    ),
    get('/v3/auth/tokens', validateToken),
    del('/v3/auth/tokens', (call) => {
      call.cloud.directory.revokeToken(subjectToken(call, 'revoke_token'));
      return noContent();
    }),
    get('/v3/auth/projects', projects),
    get('/v3/OS-FEDERATION/projects', projects),
    get('/v3/auth/domains', domains),
    get('/v3/OS-FEDERATION/domains', domains),
    get('/v3/users/:id/projects', (call) => {
      authorizeById(call, 'list_user_projects', 'users', call.param('id'));
      return listOf('projects', call, call.cloud.directory.projectsOf(call.param('id')));
    }),
    get('/v3/auth/system', (call) => {
      const hasSystemRole =
        call.cloud.directory.roleIdsOf(call.caller.userId, { kind: 'system', id: 'all' }).length > 0;
      return { system: hasSystemRole ? [{ all: true }] : [], ...selfLinks(call, 'system') };
    }),
    get('/v3/auth/catalog', (call) => {
      const { projectId } = call.caller;
      if (!projectId) throw forbidden('A project-scoped token is required to produce a service catalog.');
      return { catalog: catalogFor(call.cloud.documents, call.cloudBase, call.caller), ...selfLinks(call, 'catalog') };
    }),
  ];
}
