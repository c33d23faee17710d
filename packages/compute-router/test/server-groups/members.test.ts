import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, ids } from '../api-under-test.js';

describe('the members of a server group', () => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest();
  });
  afterAll(() => api.close());

  const as = () => api.as('ada:p1', '2.64');

  it('are the servers that were created in it, until they are deleted', async () => {
    const { id } = (await as().post('/os-server-groups', { server_group: { name: 'g', policy: 'soft-anti-affinity' } }))
      .body.server_group;
    const create = async () => {
      const body = {
        server: { name: 'm', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none' },
        'os:scheduler_hints': { group: id },
      };
      const { body: created } = await as().post('/servers', body);
      await api.idle();
      return created.server.id as string;
    };
    const members = async () => (await as().get(`/os-server-groups/${id}`)).body.server_group.members;
    const servers = [await create(), await create()];
    expect(await members()).toEqual(servers);
    expect((await as().get('/os-server-groups')).body.server_groups[0].members).toEqual(servers);
    await as().delete(`/servers/${servers[0]}`);
    await api.idle();
    expect(await members()).toEqual([servers[1]]);
    expect((await as().delete(`/os-server-groups/${id}`)).status).toBe(204);
    expect((await as().get(`/servers/${servers[1]}`)).body.server.status).toBe('ACTIVE');
  });
});
