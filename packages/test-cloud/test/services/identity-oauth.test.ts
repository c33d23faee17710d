import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TestCloud } from '../../src/index.js';
import { clientOf, cloudUnderTest } from '../clouds.js';

const at = (path: string) => `/identity/v3/${path}`;
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);

interface Signer {
  readonly consumer: { readonly id: string; readonly secret: string };
  readonly token?: { readonly id: string; readonly secret: string };
  readonly method?: string;
}

/** Returns the headers of a request that a consumer signs, as RFC 5849 defines it. */
function signed(url: string, { consumer, token, method = 'HMAC-SHA1' }: Signer, more: Record<string, string> = {}) {
  const parameters: Record<string, string> = {
    oauth_consumer_key: consumer.id,
    oauth_nonce: '0123456789',
    oauth_signature_method: method,
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_version: '1.0',
    ...(token && { oauth_token: token.id }),
    ...more,
  };
  const key = `${encode(consumer.secret)}&${encode(token?.secret ?? '')}`;
  const normalized = Object.keys(parameters)
    .sort()
    .map((name) => `${encode(name)}=${encode(parameters[name]!)}`)
    .join('&');
  const base = ['POST', url, normalized].map(encode).join('&');
  const hash = method.replace('HMAC-', '').toLowerCase();
  parameters.oauth_signature = method === 'PLAINTEXT' ? key : createHmac(hash, key).update(base).digest('base64');
  const header = Object.entries(parameters).map(([name, value]) => `${encode(name)}="${encode(value)}"`);
  return { Authorization: `OAuth realm="", ${header.join(', ')}` };
}

const formOf = (body: string) => {
  const form = new URLSearchParams(body);
  return {
    id: form.get('oauth_token')!,
    secret: form.get('oauth_token_secret')!,
    expires: form.get('oauth_expires_at'),
  };
};

async function cloudWithConsumer(method?: string) {
  const cloud = await cloudUnderTest();
  const admin = clientOf(cloud, cloud.token('admin', 'admin'));
  const { consumer } = (await admin('POST', at('OS-OAUTH1/consumers'), { consumer: {} })).body;
  const project = (await admin('GET', at('projects?name=admin'))).body.projects[0].id as string;
  const user = (await admin('GET', at('users?name=admin'))).body.users[0].id as string;
  return { cloud, admin, consumer, project, user, method };
}

type Cloud = Awaited<ReturnType<typeof cloudWithConsumer>>;

function sign(cloud: TestCloud, path: string, signer: Signer, more?: Record<string, string>, headers = {}) {
  const url = at(path);
  return clientOf(cloud, '')('POST', url, undefined, { ...signed(`${cloud.url}${url}`, signer, more), ...headers });
}

async function requestToken({ cloud, consumer, project, method }: Cloud) {
  const headers = { 'Requested-Project-Id': project };
  const created = await sign(
    cloud,
    'OS-OAUTH1/request_token',
    { consumer, method },
    { oauth_callback: 'oob' },
    headers,
  );
  expect(created.status).toBe(201);
  expect(created.headers.get('content-type')).toBe('application/x-www-form-urlencoded');
  return formOf(created.body);
}

async function accessToken(of: Cloud, roles: object[] = [{ name: 'member' }]) {
  const token = await requestToken(of);
  const authorized = await of.admin('PUT', at(`OS-OAUTH1/authorize/${token.id}`), { roles });
  expect(authorized).toMatchObject({
    status: 200,
    body: { token: { oauth_verifier: expect.stringMatching(/^\w{8}$/) } },
  });
  const verifier = { oauth_verifier: authorized.body.token.oauth_verifier as string };
  const signer = { consumer: of.consumer, token, method: of.method };
  const created = await sign(of.cloud, 'OS-OAUTH1/access_token', signer, verifier);
  expect(created.status).toBe(201);
  return { token, verifier, access: formOf(created.body) };
}

async function logIn({ cloud, consumer, method }: Cloud, token: { id: string; secret: string }, more: object = {}) {
  const url = at('auth/tokens');
  const body = { auth: { identity: { methods: ['oauth1'], oauth1: {} } } };
  const headers = signed(`${cloud.url}${url}`, { consumer, token, method, ...more });
  const response = await clientOf(cloud, '')('POST', url, body, headers);
  return { ...response, token: response.headers.get('x-subject-token') ?? '' };
}

describe.each(['HMAC-SHA1', 'HMAC-SHA256', 'HMAC-SHA512', 'PLAINTEXT'])('a consumer that signs with %s', (method) => {
  it('gets a token of the user who authorized it, with the delegated roles', async () => {
    const of = await cloudWithConsumer(method);
    const { access } = await accessToken(of);
    const { status, body, token } = await logIn(of, access);
    expect(status).toBe(201);
    expect(body.token).toMatchObject({
      methods: ['oauth1'],
      user: { id: of.user },
      project: { id: of.project },
      'OS-OAUTH1': { access_token_id: access.id, consumer_id: of.consumer.id },
    });
    expect(body.token.roles.map(({ name }: { name: string }) => name).sort()).toEqual(['member', 'reader']);
    expect((await clientOf(of.cloud, token)('GET', '/compute/v2.1/servers')).status).toBe(200);
    expect((await clientOf(of.cloud, token)('GET', at('users'))).status).toBe(403);
  });
});

describe('an access token', () => {
  it('is listed, shown with its roles, and ends the tokens of its consumer when it is deleted', async () => {
    const of = await cloudWithConsumer();
    const { access } = await accessToken(of);
    const { token } = await logIn(of, access);
    const path = at(`users/${of.user}/OS-OAUTH1/access_tokens`);
    const [shown] = (await of.admin('GET', path)).body.access_tokens;
    expect(shown).toMatchObject({ id: access.id, consumer_id: of.consumer.id, project_id: of.project });
    expect(JSON.stringify(shown)).not.toContain(access.secret);
    const [role] = (await of.admin('GET', `${path}/${access.id}/roles`)).body.roles;
    expect((await of.admin('GET', `${path}/${access.id}/roles/${role.id}`)).body.role.name).toBe('member');
    expect((await of.admin('GET', `${path}/${access.id}/roles/other`)).status).toBe(404);
    expect((await of.admin('DELETE', `${path}/${access.id}`)).status).toBe(204);
    expect((await of.admin('GET', `${path}/${access.id}`)).status).toBe(404);
    expect((await clientOf(of.cloud, token)('GET', '/compute/v2.1/servers')).status).toBe(401);
    expect((await logIn(of, access)).status).toBe(404);
  });

  it('ends with its consumer', async () => {
    const of = await cloudWithConsumer();
    const { access } = await accessToken(of);
    const { token } = await logIn(of, access);
    await of.admin('DELETE', at(`OS-OAUTH1/consumers/${of.consumer.id}`));
    expect((await clientOf(of.cloud, token)('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('expires', async () => {
    const of = await cloudWithConsumer();
    const { access } = await accessToken(of);
    await of.cloud.clock.advance(25 * 3_600_000);
    expect(await logIn(of, access)).toMatchObject({
      status: 401,
      body: { error: { message: 'Access token is expired' } },
    });
  });

  it('is rejected with a wrong secret, and without a signature', async () => {
    const of = await cloudWithConsumer();
    const { access } = await accessToken(of);
    expect(await logIn(of, { ...access, secret: 'x' })).toMatchObject({ status: 401 });
    expect(await logIn(of, access, { consumer: { ...of.consumer, secret: 'x' } })).toMatchObject({ status: 401 });
    const other = (await of.admin('POST', at('OS-OAUTH1/consumers'), { consumer: {} })).body.consumer;
    expect(await logIn(of, access, { consumer: other })).toMatchObject({ status: 401 });
    const body = { auth: { identity: { methods: ['oauth1'], oauth1: {} } } };
    expect((await clientOf(of.cloud, '')('POST', at('auth/tokens'), body)).status).toBe(400);
  });

  it('is not exchanged, and manages no OAuth tokens', async () => {
    const of = await cloudWithConsumer();
    const { access } = await accessToken(of, [{ name: 'admin' }]);
    const { token } = await logIn(of, access);
    const identity = { methods: ['token'], token: { id: token } };
    expect((await clientOf(of.cloud, '')('POST', at('auth/tokens'), { auth: { identity } })).status).toBe(403);
    const request = clientOf(of.cloud, token);
    expect((await request('GET', at(`users/${of.user}/OS-OAUTH1/access_tokens`))).status).toBe(403);
    const pending = await requestToken(of);
    expect((await request('PUT', at(`OS-OAUTH1/authorize/${pending.id}`), { roles: [{ name: 'admin' }] })).status).toBe(
      403,
    );
  });
});

describe('a request token', () => {
  it('is used once', async () => {
    const of = await cloudWithConsumer();
    const { token, verifier } = await accessToken(of);
    expect(await sign(of.cloud, 'OS-OAUTH1/access_token', { consumer: of.consumer, token }, verifier)).toMatchObject({
      status: 404,
      body: { error: { message: 'Request token not found' } },
    });
  });

  it('needs the verifier of its user', async () => {
    const of = await cloudWithConsumer();
    const token = await requestToken(of);
    const signer = { consumer: of.consumer, token };
    const rejected = { status: 401, body: { error: { message: 'Provided verifier does not match stored verifier' } } };
    expect(await sign(of.cloud, 'OS-OAUTH1/access_token', signer, { oauth_verifier: 'x' })).toMatchObject(rejected);
    await of.admin('PUT', at(`OS-OAUTH1/authorize/${token.id}`), { roles: [{ name: 'member' }] });
    expect(await sign(of.cloud, 'OS-OAUTH1/access_token', signer, { oauth_verifier: 'x' })).toMatchObject(rejected);
  });

  it('expires after eight hours', async () => {
    const of = await cloudWithConsumer();
    const token = await requestToken(of);
    expect(Date.parse(token.expires!) - Date.now()).toBeLessThanOrEqual(8 * 3_600_000);
    await of.cloud.clock.advance(9 * 3_600_000);
    expect((await of.admin('PUT', at(`OS-OAUTH1/authorize/${token.id}`), { roles: [] })).status).toBe(401);
  });

  it('is authorized for roles of the user only', async () => {
    const of = await cloudWithConsumer();
    const { role } = (await of.admin('POST', at('roles'), { role: { name: 'other' } })).body;
    const token = await requestToken(of);
    const path = at(`OS-OAUTH1/authorize/${token.id}`);
    expect((await of.admin('PUT', path, { roles: [{ id: role.id }] })).status).toBe(401);
    expect((await of.admin('PUT', path, { roles: [{ name: 'none' }] })).status).toBe(404);
    expect((await of.admin('PUT', path, { roles: [{ id: role.id, name: 'other' }] })).status).toBe(400);
    expect((await clientOf(of.cloud, of.cloud.token('demo', 'demo'))('PUT', path, { roles: [] })).status).toBe(403);
  });

  it.each([
    ['a wrong secret', { consumer: { secret: 'x' } }, 401],
    ['an unknown consumer', { consumer: { id: '0'.repeat(32) } }, 404],
    ['an unknown signature method', { method: 'RSA-SHA1' }, 400],
  ])('is not created with %s', async (_, change, status) => {
    const { cloud, consumer, project } = await cloudWithConsumer();
    const signer = { consumer: { ...consumer, ...(change as { consumer?: object }).consumer } };
    const headers = { 'Requested-Project-Id': project };
    const more: Record<string, string> = 'method' in change ? { oauth_signature_method: String(change.method) } : {};
    expect((await sign(cloud, 'OS-OAUTH1/request_token', signer, more, headers)).status).toBe(status);
  });

  it.each([
    ['an old signature', { oauth_timestamp: '1700000000' }, 400],
    ['no consumer', { oauth_consumer_key: '' }, 400],
  ])('is not created with %s', async (_, more, status) => {
    const { cloud, consumer, project } = await cloudWithConsumer();
    const headers = { 'Requested-Project-Id': project };
    expect((await sign(cloud, 'OS-OAUTH1/request_token', { consumer }, more, headers)).status).toBe(status);
  });

  it('is for an existing project', async () => {
    const { cloud, consumer } = await cloudWithConsumer();
    const create = (headers: object) => sign(cloud, 'OS-OAUTH1/request_token', { consumer }, {}, headers);
    expect((await create({})).status).toBe(400);
    expect((await create({ 'Requested-Project-Id': 'none' })).status).toBe(404);
  });
});
