import { setTimeout as sleep } from 'node:timers/promises';
import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import type { DiskModel } from '../tuning/tuning.js';
import {
  createBlockDevice,
  createBlockNodes,
  createConnectionNode,
  createFrontNode,
  nodeName,
  volumeNodeNames,
} from './block-devices.js';
import {
  checkJobEnd,
  createJobEndMatcher,
  mirrorUntilReady,
  queryBlockNode,
  queryBlockNodes,
  removeJob,
} from './copy-disk.js';
import { findFreeBus } from './hotplug-ports.js';
import type { VolumeShape } from './machine-shape.js';
import { DETACHED_ERRORS, ignoreExpectedError, removeDevice } from './remove-device.js';

/** How long to wait for the guest to release a volume before the request is repeated. */
const RELEASE_RETRY_MS = 5_000;
const RETRY_PAUSE_MS = 200;

/** Removes the named block nodes that exist, in the given order. A node must precede the nodes on which it depends. */
async function removeNodes(qmp: QmpClient, ...names: readonly string[]): Promise<void> {
  const nodes = await queryBlockNodes(qmp);
  for (const name of names)
    if (nodes.has(name))
      await qmp.execute('blockdev-del', { 'node-name': name }).catch(ignoreExpectedError(DETACHED_ERRORS));
}

function allNodeNames(deviceId: string): readonly string[] {
  const { front, connection } = volumeNodeNames(deviceId);
  return [...front, ...connection];
}

/** Attaches a volume to a running guest. */
export async function plugVolume(qmp: QmpClient, volume: VolumeShape, model: DiskModel): Promise<void> {
  const existingDevices = await qmp.execute<{ name: string }[]>('qom-list', { path: '/machine/peripheral' });
  if (existingDevices.some(({ name }) => name === volume.id)) return;
  await removeNodes(qmp, ...allNodeNames(volume.id));
  for (const node of createBlockNodes(volume)) await qmp.execute('blockdev-add', node);
  const bus = model === 'virtio-blk-pci' ? await findFreeBus(qmp) : {};
  await qmp.execute('device_add', { ...createBlockDevice(volume, model), ...bus });
}

/**
 * Detaches a volume from a running guest, and waits until the guest has released it.
 *
 * @throws QemuError `GUEST_TIMEOUT` if the guest does not release the volume in time; the volume then stays attached
 */
export async function unplugVolume(qmp: QmpClient, id: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await removeDevice(qmp, id, Math.max(1, Math.min(RELEASE_RETRY_MS, deadline - Date.now())), signal))) {
    if (Date.now() >= deadline)
      throw new QemuError('GUEST_TIMEOUT', `the guest has not released the volume within ${timeoutMs / 1000} seconds`);
    await sleep(RETRY_PAUSE_MS, undefined, { signal });
  }
  await removeNodes(qmp, ...allNodeNames(id));
}

/** Returns the names of a volume's current block nodes, and the free names for their replacements. */
async function resolveNodes(qmp: QmpClient, deviceId: string) {
  const nodeNames = volumeNodeNames(deviceId);
  // If both names are taken, removes the node that an earlier attempt left. QEMU refuses to remove the node in use.
  for (const names of [nodeNames.front, nodeNames.connection]) {
    const nodes = await queryBlockNodes(qmp);
    if (!names.every((name) => nodes.has(name))) continue;
    for (const name of names) await qmp.execute('blockdev-del', { 'node-name': name }).catch(() => {});
  }
  const nodes = await queryBlockNodes(qmp);
  const selectNames = (names: readonly [string, string]) => {
    const [current, free] = nodes.has(names[0]) ? names : [names[1], names[0]];
    const node = nodes.get(current);
    if (!node) throw new QemuError('UNSUPPORTED', 'the volume is not attached to the machine');
    return { current, free, address: node.filename };
  };
  const connection = selectNames(nodeNames.connection);
  return { front: selectNames(nodeNames.front), connection, address: connection.address };
}

/** Updates the size of a volume in a running guest after the volume was extended. */
export async function growVolume(qmp: QmpClient, volume: VolumeShape): Promise<void> {
  const { front, connection } = await resolveNodes(qmp, volume.id);
  await qmp.execute('blockdev-add', createConnectionNode(volume, connection.free));
  await qmp.execute('blockdev-reopen', { options: [createFrontNode(volume, front.current, connection.free)] });
  await removeNodes(qmp, connection.current);
  const size = (await queryBlockNode(qmp, connection.free))['virtual-size'];
  await qmp.execute('block_resize', { 'node-name': front.current, size });
}

/** Copies a volume to another one while the guest writes to the volume, and then switches the guest to the copy. */
export async function replaceVolume(
  qmp: QmpClient,
  id: string,
  target: VolumeShape,
  signal: AbortSignal,
): Promise<void> {
  const job = `mirror-${nodeName(id)}`;
  await removeJob(qmp, job);
  const { front, connection, address } = await resolveNodes(qmp, id);
  if (address.includes(target.socket)) return;
  await qmp.execute('blockdev-add', createConnectionNode(target, connection.free));
  try {
    await qmp.execute('blockdev-add', createFrontNode(target, front.free, connection.free));
    const copy = { 'job-id': job, device: front.current, target: front.free, sync: 'full' } as const;
    await mirrorUntilReady(qmp, copy, 'the volume could not be copied', signal);
    checkJobEnd(
      await qmp.executeUntil('job-complete', { id: job }, createJobEndMatcher(job), signal),
      'the volume could not be replaced',
    );
    await removeNodes(qmp, front.current, connection.current);
  } catch (error) {
    await removeJob(qmp, job).catch(() => {});
    await removeNodes(qmp, front.free, connection.free).catch(() => {});
    throw error;
  }
}
