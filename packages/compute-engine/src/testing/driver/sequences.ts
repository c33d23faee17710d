import { randomUUID } from 'node:crypto';
import type { DriverWork } from '../../drivers/driver.js';
import type { BlockDevice, FlavorCopy, Server, ServerInterface, ServerShare } from '../../model/index.js';

/** Work in an order that the engine may ask for, on a machine that runs at first. */
export interface Sequence {
  readonly title: string;
  readonly works: readonly DriverWork[];
  /** Where each piece of work takes place, when the machine moves: index into the two hosts. Default: the first. */
  readonly at?: readonly (0 | 1)[];
}

const device: BlockDevice = {
  id: randomUUID(),
  device: '/dev/vdb',
  source: 'volume',
  destination: 'volume',
  bootIndex: null,
  volumeId: randomUUID(),
  sourceId: null,
  sizeGb: 1,
  volumeType: null,
  deleteOnTermination: false,
  tag: null,
  diskBus: null,
  deviceType: null,
  guestFormat: null,
  attachmentId: randomUUID(),
  attachedAt: null,
};

const port: ServerInterface = {
  portId: randomUUID(),
  networkId: randomUUID(),
  label: 'private',
  mac: 'fa:16:3e:00:00:01',
  fixedIps: [],
  securityGroups: ['default'],
  tag: null,
  owned: true,
};

const share: ServerShare = {
  id: randomUUID(),
  shareId: randomUUID(),
  tag: 'share',
  status: 'attaching',
  exportLocation: 'nfs://192.0.2.1/share',
};

const larger = (flavor: FlavorCopy): FlavorCopy => ({
  ...flavor,
  id: '2',
  name: 'larger',
  memoryMb: flavor.memoryMb * 2,
});

/** What is asked of a driver, one sequence for each thing that the API can do. */
export function sequencesFor(
  { flavor, imageId }: Server,
  [source, dest]: readonly [string, string],
): readonly Sequence[] {
  const adminPassword = 'secret';
  return [
    { title: 'switches machines off and on', works: [{ verb: 'power_off' }, { verb: 'power_on' }] },
    {
      title: 'reboots machines softly and hard',
      works: [
        { verb: 'reboot', type: 'SOFT' },
        { verb: 'reboot', type: 'HARD' },
      ],
    },
    { title: 'forgets machines that live on another host by now', works: [{ verb: 'leave' }] },
    { title: 'pauses machines', works: [{ verb: 'pause' }, { verb: 'unpause' }] },
    { title: 'suspends machines', works: [{ verb: 'suspend' }, { verb: 'resume' }] },
    { title: 'rescues machines', works: [{ verb: 'rescue', imageId, adminPassword }, { verb: 'unrescue' }] },
    {
      title: 'rebuilds machines',
      works: [{ verb: 'rebuild', imageId, adminPassword, preserveEphemeral: false, files: [] }],
    },
    { title: 'sets passwords', works: [{ verb: 'set_password', adminPassword }] },
    {
      title: 'keeps the files of guests at rest for a while',
      works: [
        { verb: 'quiesce', by: 'a', seconds: 60, again: false },
        { verb: 'quiesce', by: 'a', seconds: 60, again: true },
        { verb: 'unquiesce', by: 'a' },
      ],
    },
    { title: 'dumps crashed machines', works: [{ verb: 'crash_dump' }] },
    { title: 'tells machines of their networks', works: [{ verb: 'inject_network_info' }] },
    { title: 'puts machines aside and brings them back', works: [{ verb: 'soft_delete' }, { verb: 'restore' }] },
    {
      title: 'takes machines from their host and brings them back',
      works: [{ verb: 'power_off' }, { verb: 'shelve_offload' }, { verb: 'unshelve', imageId }],
    },
    {
      title: 'moves machines to another flavor and keeps them there',
      works: [
        { verb: 'migrate_disk', destHost: dest, flavor: larger(flavor) },
        { verb: 'finish_migration', flavor: larger(flavor), powerOn: true, sourceHost: source },
        { verb: 'confirm_migration', sourceHost: source },
      ],
      at: [0, 1, 1],
    },
    {
      title: 'moves machines and takes them back',
      works: [
        { verb: 'migrate_disk', destHost: dest, flavor: larger(flavor) },
        { verb: 'finish_migration', flavor: larger(flavor), powerOn: true, sourceHost: source },
        { verb: 'revert_migration', sourceHost: source },
        { verb: 'finish_migration', flavor, powerOn: true, sourceHost: source },
      ],
      at: [0, 1, 1, 0],
    },
    {
      title: 'moves machines while they run',
      works: [
        { verb: 'live_migration_queue', destHost: dest },
        { verb: 'live_migration_prepare', destHost: dest },
        { verb: 'live_migration_run', destHost: dest },
        { verb: 'live_migration_finish', destHost: dest },
      ],
      at: [0, 0, 0, 1],
    },
    {
      title: 'gives moves up',
      works: [
        { verb: 'live_migration_queue', destHost: dest },
        { verb: 'live_migration_prepare', destHost: dest },
        { verb: 'live_migration_abort', destHost: dest },
      ],
    },
    {
      title: 'completes moves at once',
      works: [
        { verb: 'live_migration_prepare', destHost: dest },
        { verb: 'live_migration_force_complete', destHost: dest },
        { verb: 'live_migration_finish', destHost: dest },
      ],
      at: [0, 0, 1],
    },
    {
      title: 'brings machines of a lost host to life elsewhere',
      works: [{ verb: 'evacuate', sourceHost: source, adminPassword, sharedStorage: null }],
      at: [1],
    },
    {
      title: 'attaches, extends, swaps and detaches volumes',
      works: [
        { verb: 'attach_volume', device },
        { verb: 'extend_volume', device },
        { verb: 'swap_volume', device, newVolumeId: randomUUID() },
        { verb: 'detach_volume', device },
      ],
    },
    {
      title: 'attaches and detaches interfaces',
      works: [
        { verb: 'attach_interface', interface: port },
        { verb: 'detach_interface', interface: port },
      ],
    },
    {
      title: 'attaches and detaches shares',
      works: [
        { verb: 'attach_share', share },
        { verb: 'detach_share', share },
      ],
    },
  ];
}
