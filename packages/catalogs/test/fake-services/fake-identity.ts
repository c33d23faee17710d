import { randomUUID } from 'node:crypto';
import type { ServiceCredentials } from '../../src/http/index.js';
import { type FakeService, type FakeToken, startFake } from './fake-service.js';

export interface FakeIdentity extends FakeService {
  /** All valid tokens, which the other fake services accept. */
  readonly tokens: Map<string, FakeToken>;
  /** The service user's credentials. */
  readonly credentials: ServiceCredentials;
  /** The lifetime of new tokens. */
  readonly lifetime: { ms: number };
  /** Issues a user's token for a project. */
  issue(projectId: string): string;
}

export const SERVICE_PROJECT = 'service-project';

/**
 * Starts a fake Identity v3 server with password login. The service user does not have a role in projects whose ids
 * start with `closed`.
 */
export async function startFakeIdentity(): Promise<FakeIdentity> {
  const tokens = new Map<string, FakeToken>();
  const lifetime = { ms: 3_600_000 };
  const fake = await startFake(tokens, ({ method, path, json }) => {
    if (method !== 'POST' || path !== '/v3/auth/tokens')
      return { status: 404, body: { error: { message: 'no route' } } };
    const { user } = json.auth.identity.password;
    const { project } = json.auth.scope;
    if (user.name !== 'nova' || user.password !== 'secret' || project.id?.startsWith('closed'))
      return { status: 401, body: { error: { code: 401, message: 'no', title: 'Unauthorized' } } };
    const projectId = project.id ?? SERVICE_PROJECT;
    const expiresAt = Date.now() + lifetime.ms;
    const token = `service-${randomUUID()}`;
    tokens.set(token, { projectId, admin: true });
    const body = { token: { expires_at: new Date(expiresAt).toISOString(), project: { id: projectId } } };
    return { status: 201, headers: { 'X-Subject-Token': token }, body };
  });
  const credentials = { authUrl: `${fake.url}/v3`, username: 'nova', password: 'secret', projectName: 'service' };
  return Object.assign(fake, {
    tokens,
    credentials,
    lifetime,
    issue(projectId: string) {
      const token = `user-${randomUUID()}`;
      tokens.set(token, { projectId, admin: false });
      return token;
    },
  });
}
