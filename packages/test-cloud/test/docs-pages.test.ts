import { expect, it } from 'vitest';
import { cloudUnderTest } from './clouds.js';

it('shows the compute API and its history on /docs', async () => {
  const cloud = await cloudUnderTest();
  const get = async (path: string) => (await fetch(cloud.url + path)).text();
  expect(await get('/docs/operations/showServer?version=2.53')).toContain('One server with all that is known of it');
  expect(await get('/docs/versions/2.26')).toContain('Servers have tags');
  expect(await get('/')).toContain('href="/docs"');
});
