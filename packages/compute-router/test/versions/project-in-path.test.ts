import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, ids } from '../api-under-test.js';

describe('links and Location of a request with the project in its path', () => {
  let api: Api;
  let id: string;
  beforeAll(async () => {
    api = await apiUnderTest();
    id = (await api.as('ada:f00', '2.1').boot()).id;
  });
  afterAll(() => api.close());

  const hrefs = (entity: any) => Object.fromEntries(entity.links.map(({ rel, href }: any) => [rel, href]));

  async function send(method: string, path: string, version: string, body?: unknown) {
    const response = await fetch(`${api.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'X-Auth-Token': 'admin:f00',
        'OpenStack-API-Version': `compute ${version}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    await api.idle();
    return { location: response.headers.get('location'), body: text && JSON.parse(text) };
  }

  it.each(['/v2.1', '/v2'])('contain the project id only below %s', async (mount) => {
    for (const project of ['/f00', '', '/f00']) {
      const { server } = (await send('GET', `${mount}${project}/servers/${id}`, '2.1')).body;
      expect(hrefs(server)).toEqual({
        self: `${api.url}${mount}${project}/servers/${id}`,
        bookmark: `${api.url}${project}/servers/${id}`,
      });
      expect(hrefs(server.flavor)).toEqual({ bookmark: `${api.url}${project}/flavors/${ids.tiny}` });
      expect(hrefs(server.image)).toEqual({ bookmark: `${api.url}${project}/images/${ids.image}` });
      const { flavors } = (await send('GET', `${mount}${project}/flavors/detail`, '2.1')).body;
      expect(hrefs(flavors[0])).toEqual({
        self: `${api.url}${mount}${project}/flavors/${flavors[0].id}`,
        bookmark: `${api.url}${project}/flavors/${flavors[0].id}`,
      });
      const { servers, servers_links: next } = (await send('GET', `${mount}${project}/servers?limit=1`, '2.1')).body;
      expect(hrefs(servers[0]).self).toBe(`${api.url}${mount}${project}/servers/${servers[0].id}`);
      expect(next[0].href).toMatch(`${api.url}${mount}${project}/servers?`);
    }
  });

  it('contain the project id after a creation', async () => {
    const server = { name: 'web', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none' };
    const created = await send('POST', '/v2.1/f00/servers', '2.100', { server });
    const serverUrl = `${api.url}/v2.1/f00/servers/${created.body.server.id}`;
    expect([created.location, hrefs(created.body.server).self]).toEqual([serverUrl, serverUrl]);
    const rebuilt = await send('POST', `/v2.1/f00/servers/${id}/action`, '2.100', { rebuild: { imageRef: ids.image } });
    expect(rebuilt.location).toBe(`${api.url}/v2.1/f00/servers/${id}`);
    const tagged = await send('PUT', `/v2.1/f00/servers/${id}/tags/blue`, '2.100');
    expect(tagged.location).toBe(`${api.url}/v2.1/f00/servers/${id}/tags/blue`);
  });

  it('refer to the image service for an image of a server', async () => {
    const image = await send('POST', `/v2.1/f00/servers/${id}/action`, '2.44', { createImage: { name: 'copy' } });
    expect(image.location).toMatch(new RegExp(`^${api.url}/images/[0-9a-f-]{36}$`));
  });
});
