// A program with machines of its own, to be killed: asks for one thing, says so, and works until it is idle.
import { createEngine } from '@apistrata/compute-engine';
import { qemuDriver } from '@apistrata/qemu';

const [directory, ask, id] = process.argv.slice(2);
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
      { id: 'large', name: 'large', ...flavor, memoryMb: 48, diskGb: 2 },
    ],
    // Firmware finds nothing to boot in it and waits: a machine that is there at once.
    images: [{ id: IMAGE, name: 'nothing', diskFormat: 'raw', content: Buffer.alloc(2 ** 20) }],
    volumes: [{ id: VOLUME, projectId: 'p', name: 'data', sizeGb: 1 }],
  },
  driver: qemuDriver({ directory: `${directory}/qemu`, acceleration: 'tcg', shutdownTimeoutMs: 400 }),
  worker: { leaseMs: 500, pollMs: 100, retryMs: 200 },
  onError: (error) => console.error(error),
});

const act = (name, request) => engine.servers.act(ada, id, name, request);
const asks = {
  create: async () => {
    const wanted = { name: 'guest', flavorId: 'small', imageId: IMAGE, networks: 'none' };
    return (await engine.servers.create(ada, wanted)).servers[0].id;
  },
  stop: () => act('os-stop'),
  start: () => act('os-start'),
  reboot: () => act('rebootHard'),
  resize: () => act('resize', { flavorId: 'large' }),
  confirm: () => act('confirmResize'),
  snapshot: () => act('createImage', { name: 'copy', metadata: {}, limitMetadata: true }),
  rescue: () => act('rescue', { imageId: IMAGE, mayBeVolumeBacked: false }),
  unrescue: () => act('unrescue'),
  shelve: () => act('shelve'),
  unshelve: () => act('unshelve', {}),
  attach: () => act('attachVolume', { volumeId: VOLUME, toShelved: true, multiattach: false }),
  suspend: () => act('suspend'),
  resume: () => act('resume'),
  delete: () => engine.servers.delete(ada, id),
  nothing: async () => {},
};

const answer = await asks[ask]();
console.log(`begun ${ask === 'create' ? answer : ''}`);
await engine.idle();
const server = id && (await engine.servers.get(ada, id).catch(() => undefined));
const images = await engine.catalogs.images.list(ada.caller);
const volume = await engine.catalogs.volumes.getVolume(ada.caller, VOLUME);
console.log(
  `state ${JSON.stringify({ vm: server?.vmState ?? 'gone', task: server?.taskState, fault: server?.fault?.details, images: images.map(({ name, status }) => `${name} ${status}`), volume: volume.status })}`,
);
await engine.close();
