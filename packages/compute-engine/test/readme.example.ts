import { type Context, createEngine, defaultPreset } from '@apistrata/compute-engine';

const engine = await createEngine({ database: ':memory:' });
const context: Context = {
  caller: { userId: 'ada', projectId: 'demo', roles: ['member', 'reader'] },
  requestId: 'req-1',
  isAdmin: false,
};
const imageId = defaultPreset.images![0]!.id;
const { servers } = await engine.servers.create(context, { name: 'web', flavorId: '1', imageId, networks: 'none' });
await engine.idle();
export const booted = await engine.servers.get(context, servers[0]!.id);
await engine.close();
