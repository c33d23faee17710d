import { randomUUID } from 'node:crypto';
import type { DriverWork } from '../../drivers/driver.js';
import type { BlockDevice, FlavorCopy, Server, ServerInterface, ServerShare } from '../../model/index.js';

/** A sequence of commands that the engine may send to a running machine. */
export interface Sequence {
  readonly title: string;
  readonly commands: readonly DriverWork[];
  /** The host of each command if the machine moves, as an index into the two hosts. Default: always the first. */
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

const enlargeFlavor = (flavor: FlavorCopy): FlavorCopy => ({
  ...flavor,
  id: '2',
  name: 'larger',
  memoryMb: flavor.memoryMb * 2,
});

/** Returns the sequences of commands that a driver must support, one for each feature of the API. */
export function createSequences(
  { flavor, imageId }: Server,
  [source, dest]: readonly [string, string],
): readonly Sequence[] {
  const adminPassword = 'secret';
  return [
    { title: 'starts and stops machines', commands: [{ verb: 'power_off' }, { verb: 'power_on' }] },
    {
      title: 'reboots machines, soft and hard',
      commands: [
        { verb: 'reboot', type: 'SOFT' },
        { verb: 'reboot', type: 'HARD' },
      ],
    },
    { title: 'removes resources of machines that have moved to another host', commands: [{ verb: 'leave' }] },
    { title: 'pauses machines', commands: [{ verb: 'pause' }, { verb: 'unpause' }] },
    { title: 'suspends machines', commands: [{ verb: 'suspend' }, { verb: 'resume' }] },
    { title: 'rescues machines', commands: [{ verb: 'rescue', imageId, adminPassword }, { verb: 'unrescue' }] },
    {
      title: 'rebuilds machines',
      commands: [{ verb: 'rebuild', imageId, adminPassword, preserveEphemeral: false, files: [] }],
    },
    { title: 'sets passwords', commands: [{ verb: 'set_password', adminPassword }] },
    {
      title: 'freezes guest file systems',
      commands: [
        { verb: 'quiesce', by: 'a', seconds: 60, again: false },
        { verb: 'quiesce', by: 'a', seconds: 60, again: true },
        { verb: 'unquiesce', by: 'a' },
      ],
    },
    { title: 'triggers crash dumps', commands: [{ verb: 'crash_dump' }] },
    { title: 'injects network configuration into machines', commands: [{ verb: 'inject_network_info' }] },
    { title: 'soft-deletes and restores machines', commands: [{ verb: 'soft_delete' }, { verb: 'restore' }] },
    {
      title: 'shelves and unshelves machines',
      commands: [{ verb: 'power_off' }, { verb: 'shelve_offload' }, { verb: 'unshelve', imageId }],
    },
    {
      title: 'resizes machines and confirms the resize',
      commands: [
        { verb: 'migrate_disk', destHost: dest, flavor: enlargeFlavor(flavor) },
        { verb: 'finish_migration', flavor: enlargeFlavor(flavor), powerOn: true, sourceHost: source },
        { verb: 'confirm_migration', sourceHost: source },
      ],
      at: [0, 1, 1],
    },
    {
      title: 'resizes machines and reverts the resize',
      commands: [
        { verb: 'migrate_disk', destHost: dest, flavor: enlargeFlavor(flavor) },
        { verb: 'finish_migration', flavor: enlargeFlavor(flavor), powerOn: true, sourceHost: source },
        { verb: 'revert_migration', sourceHost: source },
        { verb: 'finish_migration', flavor, powerOn: true, sourceHost: source },
      ],
      at: [0, 1, 1, 0],
    },
    {
      title: 'migrates running machines',
      commands: [
        { verb: 'live_migration_queue', destHost: dest },
        { verb: 'live_migration_prepare', destHost: dest },
        { verb: 'live_migration_run', destHost: dest },
        { verb: 'live_migration_finish', destHost: dest },
      ],
      at: [0, 0, 0, 1],
    },
    {
      title: 'aborts live migrations',
      commands: [
        { verb: 'live_migration_queue', destHost: dest },
        { verb: 'live_migration_prepare', destHost: dest },
        { verb: 'live_migration_abort', destHost: dest },
      ],
    },
    {
      title: 'forces live migrations to complete',
      commands: [
        { verb: 'live_migration_prepare', destHost: dest },
        { verb: 'live_migration_force_complete', destHost: dest },
        { verb: 'live_migration_finish', destHost: dest },
      ],
      at: [0, 0, 1],
    },
    {
      title: 'evacuates machines from a failed host',
      commands: [{ verb: 'evacuate', sourceHost: source, adminPassword, sharedStorage: null }],
      at: [1],
    },
    {
      title: 'attaches, extends, swaps and detaches volumes',
      commands: [
        { verb: 'attach_volume', device },
        { verb: 'extend_volume', device },
        { verb: 'swap_volume', device, newVolumeId: randomUUID() },
        { verb: 'detach_volume', device },
      ],
    },
    {
      title: 'attaches and detaches interfaces',
      commands: [
        { verb: 'attach_interface', interface: port },
        { verb: 'detach_interface', interface: port },
      ],
    },
    {
      title: 'attaches and detaches shares',
      commands: [
        { verb: 'attach_share', share },
        { verb: 'detach_share', share },
      ],
    },
  ];
}
