import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, ids } from '../api-under-test.js';

const newServer = { name: 'web', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none' };

/** Texts that PostgreSQL rejects in columns or in JSON documents. */
const illegalTexts = ['a\0b', '\ud800', 'a\udc00'];

describe.each(illegalTexts)('the text %j, which databases cannot store,', (text) => {
  let api: Api;
  let id: string;
  beforeAll(async () => {
    api = await apiUnderTest();
    id = (await api.as('admin:p1', '2.90').boot()).id;
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  it.each<[string, 'POST' | 'PUT', (server: string) => string, unknown]>([
    ['a user id', 'POST', () => '/os-keypairs', { keypair: { name: 'k', user_id: text } }],
    ['a value of metadata', 'POST', (server) => `/servers/${server}/metadata`, { metadata: { a: text } }],
    ['a tag', 'PUT', (server) => `/servers/${server}/tags`, { tags: [text] }],
    ['a server name', 'PUT', (server) => `/servers/${server}`, { server: { name: text } }],
    ['a value of new metadata', 'POST', () => '/servers', { server: { ...newServer, metadata: { a: text } } }],
  ])('is rejected as %s', async (_, method, path, body) => {
    const client = api.as('admin:p1', '2.90');
    const response = await (method === 'POST' ? client.post(path(id), body) : client.put(path(id), body));
    expect([response.status, response.body.badRequest?.code]).toEqual([400, 400]);
  });

  it.each<[string, string, unknown]>([
    ['an extra spec', '/flavors/1/os-extra_specs', { extra_specs: { a: text } }],
    ['a description of a flavor', '/flavors', { flavor: { name: 'f', ram: 1, vcpus: 1, disk: 1, description: text } }],
    ['a name of an aggregate', '/os-aggregates', { aggregate: { name: text } }],
    ['a name of a server group', '/os-server-groups', { server_group: { name: text, policy: 'affinity' } }],
    ['a description of a server', '/servers', { server: { ...newServer, description: text } }],
  ])('causes no server error as %s', async (_, path, body) => {
    const { status } = await api.as('admin:p1', '2.90').post(path, body);
    expect(status).toBeLessThan(500);
    for (const list of ['/servers/detail?description=x', '/flavors/detail', '/os-aggregates', '/os-server-groups'])
      expect((await api.as('admin:p1', '2.90').get(list)).status).toBe(200);
  });
});
