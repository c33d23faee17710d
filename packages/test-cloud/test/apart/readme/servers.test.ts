import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startCloud();
});
beforeEach(() => cloud.reset());
afterAll(() => cloud.stop());

// The code under test
async function createServer(name: string): Promise<Response> {
  return fetch(`${cloud.url}/compute/v2.1/servers`, {
    method: 'POST',
    headers: { 'X-Auth-Token': cloud.token('ada', 'lab'), 'Content-Type': 'application/json' },
    body: JSON.stringify({ server: { name, flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b' } }),
  });
}

it('creates a server', async () => {
  expect((await createServer('web')).status).toBe(202);
  await cloud.idle();
  expect(cloud.requests({ method: 'POST' })).toMatchObject([{ requestBody: { server: { name: 'web' } }, status: 202 }]);
});

it('injects failures into a cloud', async () => {
  cloud.rules.http({ match: { method: 'POST' }, sequence: [{ status: 503 }, { status: 503 }] });
  const statuses = [];
  for (let attempt = 0; attempt < 3; attempt++) statuses.push((await createServer('web')).status);
  expect(statuses).toEqual([503, 503, 202]);
});
