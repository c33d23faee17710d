import { expect, it } from 'vitest';
import { cloudUnderTest } from './clouds.js';

it('shows the compute API and its history on /docs', async () => {
  const cloud = await cloudUnderTest();
  const get = async (path: string) => (await fetch(cloud.url + path)).text();
  expect(await get('/docs/operations/showServer?version=2.53')).toContain('Shows a server with details');
  expect(await get('/docs/versions/2.26')).toContain('Adds server tags');
  expect(await get('/')).toContain('href="/docs"');
});
