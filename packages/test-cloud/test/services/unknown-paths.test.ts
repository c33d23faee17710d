import { Agent, get, type IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const json = { Accept: 'application/json' };

it.each([
  ['identity', '/identity/v3/nothing', { error: { code: 404, title: 'Not Found' } }],
  ['volume', '/volume/v3/nothing', { itemNotFound: { code: 404 } }],
  ['image', '/image/v2/nothing', { code: '404 Not Found', title: 'Not Found' }],
  ['network', '/network/v2.0/nothing', { NeutronError: { type: 'HTTPNotFound' } }],
  ['placement', '/placement/nothing', { errors: [{ status: 404, title: 'Not Found' }] }],
])('the %s service returns its own 404 for unknown paths and lists them as unhandled', async (service, url, body) => {
  const cloud = await cloudUnderTest();
  expect(await clientOf(cloud)('DELETE', url, undefined, json)).toMatchObject({ status: 404, body });
  expect(cloud.unhandled()).toEqual([{ service, method: 'DELETE', url, count: 1 }]);
});

it.each([
  ['GET', '/volume/v3/volumes/'],
  ['GET', '/image/v2/images/'],
  ['DELETE', '/image/v2/images/'],
])('%s %s with an empty id does not return the list', async (method, path) => {
  const cloud = await cloudUnderTest();
  expect((await clientOf(cloud)(method, path)).status).toBe(404);
});

it.each(['/volume/', '/volume/v3', '/volume/v3/', '/image/', '/image/v2', '/image/v2/'])(
  'the version document exists at %s, with or without a trailing slash',
  async (path) => {
    const cloud = await cloudUnderTest();
    expect((await clientOf(cloud)('GET', path)).status).toBeLessThan(400);
  },
);

it('keeps idle connections for 75 seconds, so that clients that poll every 5 reuse theirs', async () => {
  const cloud = await cloudUnderTest();
  const agent = new Agent({ keepAlive: true });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${cloud.url}/identity/v3`, { agent }, resolve).on('error', reject);
  });
  response.resume();
  agent.destroy();
  expect(response.headers['keep-alive']).toBe('timeout=75');
});
