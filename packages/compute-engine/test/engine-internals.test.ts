import { describe, expect, expectTypeOf, it } from 'vitest';
import { createEngine } from '../src/engine/create-engine.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';

describe('the internals of an engine', () => {
  it('are not properties of the engine', async () => {
    const engine = await createEngine();
    const inside = ['store', 'driver', 'machines', 'worker', 'guards', 'infrastructure'] as const;
    for (const part of inside) expect(engine).not.toHaveProperty(part);
    for (const part of inside) expect(coreOf(engine)).toHaveProperty(part);
    expectTypeOf<Extract<keyof Engine, (typeof inside)[number]>>().toBeNever();
    await engine.close();
  });

  it('exist only for engines', () => {
    expect(() => coreOf({})).toThrow(TypeError);
  });

  it('are awaited by idle()', async () => {
    const engine = await createEngine();
    const caller = { userId: 'u', projectId: 'p', roles: ['member'] };
    const context = { caller, requestId: 'req-1', isAdmin: false };
    const [flavor] = await engine.flavors.list(context, { limit: 1 });
    const [image] = await engine.catalogs.images.list(caller);
    const request = { name: 'web', flavorId: flavor!.id, imageId: image!.id, networks: 'none' } as const;
    const { servers } = await engine.servers.create(context, request);
    await engine.idle();
    expect(await engine.servers.get(context, servers[0]!.id)).toMatchObject({ vmState: 'active' });
    await engine.close();
  });
});
