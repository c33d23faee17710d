// A program with its own machines, which kills itself. It completes unfinished work, reports the result and, on a
// message, runs one operation and dies in the middle of the operation. Arguments: the directory; the operation; the
// server; the number of steps before the program dies.
import { once } from 'node:events';
import { killAfter } from './steps.mjs';

const { createEngine } = await import('@apistrata/compute-engine');
const { qemuDriver } = await import('@apistrata/qemu');

const [directory, verb, id, steps] = process.argv.slice(2);
const IMAGE = '11111111-1111-4111-8111-111111111111';
const VOLUME = '66666666-6666-4666-8666-666666666666';
const flavor = { vcpus: 1, memoryMb: 32, diskGb: 1 };
const ada = { caller: { userId: 'ada', projectId: 'p', roles: ['member'] }, requestId: 'req-kill', isAdmin: false };

const engine = await createEngine({
  database: `${directory}/cloud.db`,
  preset: {
    hosts: [{ name: 'here', vcpus: 16, memoryMb: 16_384, diskGb: 100 }],
    flavors: [
      { id: 'small', name: 'small', ...flavor },
      { id: 'wide', name: 'wide', ...flavor, memoryMb: 40 },
      { id: 'large', name: 'large', ...flavor, memoryMb: 48, diskGb: 2 },
    ],
    // An image with nothing to boot. Its machine starts immediately, and stays in the firmware.
    images: [{ id: IMAGE, name: 'nothing', diskFormat: 'raw', content: Buffer.alloc(2 ** 20) }],
    volumes: [{ id: VOLUME, projectId: 'p', name: 'data', sizeGb: 1 }],
  },
  driver: qemuDriver({ directory: `${directory}/qemu`, acceleration: 'tcg', shutdownTimeoutMs: 400 }),
  worker: { leaseMs: 500, pollMs: 100, retryMs: 200 },
  onError: (error) => console.error(error),
});

/** Output without ids of the new servers is ignored. */
const act = async (name, request) => void (await engine.servers.act(ada, id, name, request));
const verbs = {
  create: async () => {
    const server = { name: 'guest', flavorId: 'small', imageId: IMAGE, networks: 'none' };
    return (await engine.servers.create(ada, server)).servers[0].id;
  },
  stop: () => act('os-stop'),
  start: () => act('os-start'),
  reboot: () => act('rebootHard'),
  resize: () => act('resize', { flavorId: 'large' }),
  /** A resize and its revert, without growing the disk. */
  widen: async () => {
    const { flavor } = await engine.servers.get(ada, id);
    await act('resize', { flavorId: flavor.name === 'wide' ? 'small' : 'wide' });
  },
  revert: () => act('revertResize'),
  confirm: () => act('confirmResize'),
  snapshot: () => act('createImage', { name: 'copy', metadata: {}, limitMetadata: true }),
  rescue: () => act('rescue', { imageId: IMAGE, mayBeVolumeBacked: false }),
  unrescue: () => act('unrescue'),
  shelve: () => act('shelve'),
  unshelve: () => act('unshelve', {}),
  attach: () => act('attachVolume', { volumeId: VOLUME, allowShelved: true, multiattach: false }),
  suspend: () => act('suspend'),
  resume: () => act('resume'),
  delete: async () => void (await engine.servers.delete(ada, id)),
  nothing: async () => {},
};

await engine.idle();
const server = id && (await engine.servers.get(ada, id).catch(() => undefined));
const images = await engine.catalogs.images.list(ada.caller);
const volume = await engine.catalogs.volumes.getVolume(ada.caller, VOLUME);
const state = {
  vm: server?.vmState ?? 'gone',
  task: server?.taskState ?? null,
  fault: server?.fault?.details ?? null,
  images: images.map(({ name, status }) => `${name} ${status}`),
  volume: volume.status,
};
console.log(`state ${JSON.stringify(state)}`);
await once(process.stdin, 'data');
process.stdin.destroy();

const response = await verbs[verb]();
console.log(`begun ${response ?? ''}`);
killAfter(Number(steps));
await engine.idle();
console.log('done');
await engine.close();
