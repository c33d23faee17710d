import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { type EmbeddedShareCatalog, embeddedShares } from '../../src/share/builtin/embedded-shares.js';
import { storesUnderTest } from '../stores-under-test.js';

const ada: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member', 'reader'] };
const bob: Caller = { userId: 'bob', projectId: 'p-bob', roles: ['member', 'reader'] };

describe.each(storesUnderTest(inject('postgresUrl')))('embedded shares on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;
  let shares: EmbeddedShareCatalog;

  beforeAll(async () => {
    ({ store, close } = await open());
    shares = embeddedShares({ store });
  });
  afterAll(() => close());

  it('grant a host access once, and revoke it', async () => {
    const { id, exportLocations, protocol, status } = await shares.create(ada, { name: 'home' });
    expect({ protocol, status, exports: exportLocations.length }).toEqual({
      protocol: 'NFS',
      status: 'available',
      exports: 1,
    });
    const client = { type: 'ip', to: '10.0.0.5' } as const;
    const access = await shares.allowAccess(ada, id, client);
    expect(access).toMatchObject({ shareId: id, level: 'rw', state: 'active', accessKey: null });
    expect(await shares.allowAccess(ada, id, client)).toEqual(access);
    expect(await shares.getAccess(ada, id, 'ip', '10.0.0.5')).toEqual(access);
    await shares.denyAccess(ada, id, 'ip', '10.0.0.5');
    await shares.denyAccess(ada, id, 'ip', '10.0.0.5');
    expect(await shares.getAccess(ada, id, 'ip', '10.0.0.5')).toBeNull();
  });

  it('lose no access that is granted to many hosts concurrently', async () => {
    const { id } = await shares.create(ada, { protocol: 'CEPHFS' });
    const clients = Array.from({ length: 15 }, (_, i) => `client${i}`);
    await Promise.all(clients.map((to) => shares.allowAccess(ada, id, { type: 'cephx', to })));
    for (const to of clients) expect((await shares.getAccess(ada, id, 'cephx', to))?.accessKey).toBeTruthy();
  });

  it('are not deleted while a server uses them', async () => {
    const { id } = await shares.create(ada, {});
    await shares.lock(ada, id, 'server1');
    await shares.lock(ada, id, 'server1');
    await expect(shares.delete(ada, id)).rejects.toMatchObject({ code: 'SHARE_LOCKED', status: 409 });
    await shares.unlock(ada, id, 'server1');
    await shares.unlock(ada, id, 'server1');
    await shares.delete(ada, id);
    await expect(shares.get(ada, id)).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND', status: 404 });
  });

  it('grant no access unless they are available', async () => {
    const { id } = await shares.create(ada, { status: 'error' });
    await expect(shares.allowAccess(ada, id, { type: 'ip', to: '10.0.0.5' })).rejects.toMatchObject({
      code: 'SHARE_WRONG_STATUS',
      status: 409,
    });
  });

  it('of other projects are hidden', async () => {
    const { id } = await shares.create(ada, {});
    await expect(shares.get(bob, id)).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
    await expect(shares.lock(bob, id, 's')).rejects.toMatchObject({ code: 'SHARE_NOT_FOUND' });
    expect(await shares.list(bob)).toEqual([]);
  });

  it('of a preset are created once, and shares are created for unknown ids if these are accepted', async () => {
    const id = randomUUID();
    await shares.seed([{ id, projectId: 'p-ada', name: 'seeded' }]);
    await shares.update(ada, id, { name: 'renamed' });
    await shares.seed([{ id, projectId: 'p-ada', name: 'seeded' }]);
    expect(await shares.get(ada, id)).toMatchObject({ name: 'renamed' });
    const unknown = randomUUID();
    expect(await embeddedShares({ store, unknown: 'accept' }).get(bob, unknown)).toMatchObject({ status: 'available' });
    expect(await shares.get(bob, unknown)).toMatchObject({ id: unknown, projectId: 'p-bob' });
  });
});
