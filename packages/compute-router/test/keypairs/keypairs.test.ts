import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

/** Made by ssh-keygen, with the fingerprint it tells. */
const sshKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAz8sZK26ZfelzFluzTri0h8Cp23VpyPHtj4DE3xU8xy ed25519 key';
const sshFingerprint = '28:f4:40:dc:cd:05:22:20:30:4e:d1:dd:01:c2:42:2e';

describe('key pairs', () => {
  let api: Api;
  let number = 0;
  /** A user without key pairs yet. */
  let user: string;
  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: '2.104', maxLimit: 5 } });
  });
  afterAll(() => api.close());
  beforeEach(() => {
    user = `user${++number}`;
  });

  const as = (version = '2.91') => api.as(`${user}:p1`, version);
  const admin = (version = '2.100') => api.as('admin:p1', version);
  const add = (keypair: Record<string, unknown>, version?: string) =>
    as(version).post('/os-keypairs', { keypair: { name: 'key', public_key: sshKey, ...keypair } });

  it.each([
    ['2.1', 200],
    ['2.2', 201],
    ['2.100', 201],
  ])('are imported at %s with %i', async (version, status) => {
    const made = await add({}, version);
    expect(made.status).toBe(status);
    expect(made.body.keypair).toEqual({
      name: 'key',
      public_key: sshKey,
      fingerprint: sshFingerprint,
      user_id: user,
      ...(version !== '2.1' && { type: 'ssh' }),
    });
  });

  it.each([
    ['2.1', 202],
    ['2.2', 204],
    ['2.104', 204],
  ])('are deleted at %s with %i, once', async (version, status) => {
    await add({});
    expect((await as(version).delete('/os-keypairs/key')).status).toBe(status);
    expect((await as(version).delete('/os-keypairs/key')).status).toBe(404);
    expect((await as(version).get('/os-keypairs/key')).status).toBe(404);
  });

  it.each([
    ['2.1', []],
    ['2.2', ['type']],
    ['2.104', ['type']],
  ])('show at %s the fields of that version', async (version, more) => {
    await add({});
    const listed = (await as(version).get('/os-keypairs')).body.keypairs;
    expect(Object.keys(listed[0].keypair).sort()).toEqual(['fingerprint', 'name', 'public_key', ...more].sort());
    const { keypair } = (await as(version).get('/os-keypairs/key')).body;
    const shown = ['created_at', 'deleted', 'deleted_at', 'fingerprint', 'id', 'name', 'public_key', 'updated_at'];
    expect(Object.keys(keypair).sort()).toEqual([...shown, ...more, 'user_id'].sort());
    expect(keypair).toMatchObject({ deleted: false, deleted_at: null, updated_at: null, id: expect.any(Number) });
    expect(keypair.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  });

  it('are generated without a public key, up to 2.91, and the private half is told once', async () => {
    const { status, body } = await add({ public_key: undefined });
    expect(status).toBe(201);
    expect(createPrivateKey(body.keypair.private_key).asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
    expect(body.keypair.public_key).toMatch(/^ssh-rsa .* Generated-by-Nova$/);
    expect((await as().get('/os-keypairs/key')).body.keypair).not.toHaveProperty('private_key');
    expect((await as('2.92').post('/os-keypairs', { keypair: { name: 'other' } })).status).toBe(400);
  });

  it('are certificates with type x509', async () => {
    const made = await add({ public_key: undefined, type: 'x509' });
    const { public_key, private_key, fingerprint, type } = made.body.keypair;
    const certificate = new X509Certificate(public_key);
    expect([type, fingerprint]).toEqual(['x509', certificate.fingerprint.toLowerCase()]);
    // PKCS#12 is a DER sequence.
    expect(Buffer.from(private_key, 'base64')[0]).toBe(0x30);
    const imported = await add({ name: 'again', public_key, type: 'x509' }, '2.92');
    expect([imported.status, imported.body.keypair.fingerprint]).toEqual([201, fingerprint]);
    expect(imported.body.keypair).not.toHaveProperty('private_key');
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['2.1', 'a type', { type: 'ssh' }],
    ['2.9', 'a user', { user_id: 'x' }],
    ['2.91', 'an unknown field', { colour: 'red' }],
    ['2.91', 'no name', { name: undefined }],
    ['2.91', 'an empty name', { name: '' }],
    ['2.91', 'a name of 256', { name: 'x'.repeat(256) }],
    ['2.91', 'a name with @', { name: 'me@home' }],
    ['2.91', 'a name with a dot', { name: 'a.b' }],
    ['2.92', 'a name with an outer blank', { name: ' a' }],
    ['2.92', 'a name with a plus', { name: 'a+b' }],
    ['2.91', 'an unknown type', { type: 'pgp' }],
    ['2.91', 'a key that is none', { public_key: 'ssh-rsa nonsense' }],
    ['2.91', 'a key that is null', { public_key: null }],
    ['2.91', 'a key as a certificate', { type: 'x509' }],
  ])('are refused at %s with %s', async (version, _, fields) => {
    const refused = await add(fields, version);
    expect([refused.status, refused.body.badRequest.code]).toEqual([400, 400]);
  });

  it.each([
    ['2.1', 'A b_c-d 0'],
    ['2.92', 'a.b@c d'],
  ])('may at %s be called %s', async (version, name) => {
    expect((await add({ name }, version)).body.keypair.name).toBe(name);
    expect((await as(version).get(`/os-keypairs/${encodeURIComponent(name)}`)).status).toBe(200);
  });

  it('have names of their own within a user', async () => {
    await add({});
    const taken = await add({});
    expect(taken.status).toBe(409);
    expect(taken.body.conflictingRequest.message).toBe("Key pair 'key' already exists.");
    user = `other-${user}`;
    expect((await add({})).status).toBe(201);
  });

  it('count towards a quota that is looked at before the name', async () => {
    const few = await apiUnderTest({ engine: { settings: { quotas: { key_pairs: 2 } as never } } });
    try {
      const ada = few.as('ada:p1', '2.100');
      const made = (name: string) => ada.post('/os-keypairs', { keypair: { name, public_key: sshKey } });
      const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(made));
      expect(all.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403]);
      const kept = (await ada.get('/os-keypairs')).body.keypairs[0].keypair.name;
      const over = await made(kept);
      expect([over.status, over.body.forbidden.message]).toEqual([403, 'Quota exceeded, too many key pairs.']);
      expect(
        (await few.as('bob:p1', '2.100').post('/os-keypairs', { keypair: { name: 'a', public_key: sshKey } })).status,
      ).toBe(201);
    } finally {
      await few.close();
    }
  });

  it('come in pages from 2.35 on, by name', async () => {
    for (const name of ['c', 'a', 'e', 'b', 'd', 'f']) await add({ name });
    const list = async (query: string, version: string) => {
      const { status, body } = await as(version).get(`/os-keypairs${query}`);
      if (status !== 200) return status;
      const names = body.keypairs.map(({ keypair }: any) => keypair.name).join('');
      return body.keypairs_links ? `${names} -> ${new URL(body.keypairs_links[0].href).search}` : names;
    };
    expect(await list('?limit=2&marker=b', '2.34')).toBe('abcdef');
    expect(await list('', '2.34')).toBe('abcdef');
    expect(await list('', '2.35')).toBe('abcde -> ?marker=e');
    expect(await list('?limit=2', '2.35')).toBe('ab -> ?limit=2&marker=b');
    expect(await list('?limit=2&marker=b', '2.35')).toBe('cd -> ?limit=2&marker=d');
    expect(await list('?marker=f', '2.35')).toBe('');
    expect(await list('?marker=e', '2.35')).toBe('f');
    expect(await list('?limit=0', '2.35')).toBe('');
    expect(await list('?marker=zz', '2.35')).toBe(400);
    expect(await list('?limit=-1', '2.35')).toBe(400);
    expect(await list('?colour=red', '2.74')).toContain('abcde');
    expect(await list('?colour=red', '2.75')).toBe(400);
  });

  it('of others are an administrator’s business from 2.10 on', async () => {
    await add({});
    const theirs = `?user_id=${user}`;
    const names = async (client: ReturnType<typeof as>, query: string) =>
      (await client.get(`/os-keypairs${query}`)).body.keypairs.map(({ keypair }: any) => keypair.name);
    expect(await names(admin('2.10'), theirs)).toEqual(['key']);
    expect(await names(admin('2.9'), theirs)).toEqual([]);
    expect((await admin().get(`/os-keypairs/key${theirs}`)).body.keypair.user_id).toBe(user);
    const made = await admin().post('/os-keypairs', {
      keypair: { name: 'given', public_key: sshKey, user_id: user },
    });
    expect([made.status, made.body.keypair.user_id]).toEqual([201, user]);
    expect(await names(as('2.10'), `?user_id=${user}&user_id=somebody`)).toEqual(['given', 'key']);
    expect((await admin().delete(`/os-keypairs/given${theirs}`)).status).toBe(204);

    const mallory = api.as('mallory:p1', '2.100');
    expect((await mallory.get('/os-keypairs')).body.keypairs).toEqual([]);
    expect((await mallory.get('/os-keypairs/key')).status).toBe(404);
    expect((await mallory.delete('/os-keypairs/key')).status).toBe(404);
    expect((await mallory.get(`/os-keypairs${theirs}`)).status).toBe(403);
    expect((await mallory.get(`/os-keypairs/key${theirs}`)).status).toBe(403);
    expect((await mallory.delete(`/os-keypairs/key${theirs}`)).status).toBe(403);
    const planted = { name: 'planted', public_key: sshKey, user_id: user };
    expect((await mallory.post('/os-keypairs', { keypair: planted })).status).toBe(403);
    expect(await names(as(), '')).toEqual(['key']);
  });

  it('that are deleted leave their servers as they are', async () => {
    await add({});
    const server = await as('2.37').boot({ key_name: 'key' });
    await as().delete('/os-keypairs/key');
    expect((await as('2.37').get(`/servers/${server.id}`)).body.server.key_name).toBe('key');
  });

  it('never make a 500', () => {
    expect(api.errors).toEqual([]);
  });
});
