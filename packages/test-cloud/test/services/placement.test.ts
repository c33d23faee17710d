import { expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

it('placement shows the hosts and what they offer, to administrators', async () => {
  const cloud = await cloudUnderTest();
  const ask = clientOf(cloud);
  const { body } = await ask('GET', '/placement/resource_providers?name=host1');
  expect(body.resource_providers).toHaveLength(1);
  const inventory = await ask('GET', `/placement/resource_providers/${body.resource_providers[0].uuid}/inventories`);
  expect(inventory.body.inventories.VCPU).toMatchObject({ total: 64, allocation_ratio: 16 });
  expect((await ask('GET', '/placement/resource_providers/x')).body.errors[0].status).toBe(404);
  const member = clientOf(cloud, cloud.token('demo', 'demo'));
  expect((await member('GET', '/placement/resource_providers')).status).toBe(403);
});
