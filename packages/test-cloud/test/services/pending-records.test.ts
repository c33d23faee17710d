import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { Call } from '../../src/service/call.js';
import { addPending, countedRecords } from '../../src/volume/pending-records.js';

it('a pending volume counts until its request has been handled, even if the client disconnected before', async () => {
  const volumes = { listVolumes: async () => [], listSnapshots: async () => [] };
  const caller = { userId: 'ada', projectId: 'p1', roles: ['member'] };
  // This response never emits `close`, because it was closed before.
  const call = new Call(
    { originalUrl: '/' } as never,
    new EventEmitter() as never,
    { catalogs: { volumes } } as never,
    caller,
  );
  const volume = { id: 'v1', sizeGb: 2, volumeType: null };
  addPending(call, volume);
  expect((await countedRecords(call, 'p1')).volumes).toMatchObject([volume]);
  expect((await countedRecords(call, 'p2')).volumes).toEqual([]);
  call.end();
  expect((await countedRecords(call, 'p1')).volumes).toEqual([]);
});
