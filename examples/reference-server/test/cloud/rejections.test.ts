import { expect, it, onTestFinished } from 'vitest';
import { startCloud } from './cloud-under-test.js';

async function startAsAdministrator(...args: readonly string[]) {
  const cloud = await startCloud(':memory:', ...args);
  onTestFinished(() => cloud.stop());
  const token = await cloud.tokenOf(cloud.admin ?? expect.fail('no administrator'));
  return { ...cloud, token };
}

const RECORDS = [
  ['/network/v2.0/trunks', { trunk: {} }],
  ['/network/v2.0/qos/policies', { policy: { name: 'slow' } }],
  ['/network/v2.0/address-groups', { address_group: { name: 'friends' } }],
  ['/network/v2.0/floatingips/1/port_forwardings', { port_forwarding: {} }],
  ['/volume/v3/backups', { backup: { volume_id: '1' } }],
  ['/volume/v3/types/1/encryption', { encryption: { provider: 'luks' } }],
] as const;

it.each(RECORDS)('with real machines, %s is rejected, because it would only be recorded', async (path, body) => {
  const { send, token } = await startAsAdministrator('--driver', 'none');
  const { status, body: fault } = await send('post', path, token, body);
  expect(status).toBe(501);
  expect(JSON.stringify(fault)).toContain('it would have no effect on real machines');
  expect((await send('post', path, undefined, body)).status).toBe(401);
});

it('with simulated machines, a resource that would have no effect is recorded', async () => {
  const { send, token } = await startAsAdministrator();
  const created = await send('post', '/network/v2.0/qos/policies', token, { policy: { name: 'slow' } });
  expect(created.status).toBe(201);
});

it('rejects staged content, which would be lost with the process', async () => {
  const { send, token } = await startAsAdministrator();
  const image = { name: 'disk', disk_format: 'raw', container_format: 'bare' };
  const { body, headers } = await send('post', '/image/v2/images', token, image);
  expect(headers['openstack-image-import-methods']).toBe('web-download,copy-image');
  const bytes = { 'Content-Type': 'application/octet-stream' };
  expect((await send('put', `/image/v2/images/${body.id}/stage`, token, 'content', bytes)).status).toBe(501);
  const method = { name: 'glance-direct' };
  expect((await send('post', `/image/v2/images/${body.id}/import`, token, { method })).status).toBe(400);
});

it('enforces the access rules of application credentials', async () => {
  const { send, token, logIn, admin } = await startAsAdministrator();
  const { user } = (await logIn(admin ?? expect.fail('no administrator'))).body.token;
  const rule = { path: '/v2.1/servers', method: 'GET', service: 'compute' };
  const credential = await send('post', `/identity/v3/users/${user.id}/application_credentials`, token, {
    application_credential: { name: 'ci', access_rules: [rule] },
  });
  expect(credential.status).toBe(201);
  const { id, secret } = credential.body.application_credential;
  const identity = { methods: ['application_credential'], application_credential: { id, secret } };
  const login = await send('post', '/identity/v3/auth/tokens', '', { auth: { identity } });
  const restricted = String(login.headers['x-subject-token']);
  expect((await send('get', '/compute/v2.1/servers', restricted)).status).toBe(200);
  expect((await send('get', '/compute/v2.1/flavors', restricted)).status).toBe(401);
  expect((await send('get', '/image/v2/images', restricted)).status).toBe(401);
});

it('revokes the tokens of a user whose password changes', async () => {
  const { send, token, logIn, admin = expect.fail('no administrator') } = await startAsAdministrator();
  const { user } = (await logIn(admin)).body.token;
  const path = `/identity/v3/users/${user.id}/password`;
  const change = (original: string) => ({ user: { password: 'another password', original_password: original } });
  expect((await send('post', path, token, change('wrong'))).status).toBe(401);
  expect((await send('post', path, token, change(admin.password))).status).toBe(204);
  expect((await send('get', '/identity/v3/auth/projects', token)).status).toBe(401);
  expect((await logIn(admin)).status).toBe(401);
  expect((await logIn({ ...admin, password: 'another password' })).status).toBe(201);
});
