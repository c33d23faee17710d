import { setTimeout as sleep } from 'node:timers/promises';
import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import type { DiskModel } from '../tuning/tuning.js';
import { blockDevice, blockNodes, connectionNode, frontNode, nodeName, volumeNodes } from './block-devices.js';
import { blockNodeOf, blockNodesOf, checkEnd, endOf, forgetJob, mirrorUntilReady } from './copy-disk.js';
import type { VolumeShape } from './machine-shape.js';
import { GONE, removeDevice, unlessSo } from './remove-device.js';

/** How long a guest has to let go before it is asked again. */
const ASK_AGAIN_MS = 5_000;
const PAUSE_MS = 200;

/** Removes nodes that are there, those that lean on others first. */
async function forget(qmp: QmpClient, ...names: readonly string[]): Promise<void> {
  const nodes = await blockNodesOf(qmp);
  for (const name of names)
    if (nodes.has(name)) await qmp.execute('blockdev-del', { 'node-name': name }).catch(unlessSo(GONE));
}

function allNodes(deviceId: string): readonly string[] {
  const { front, connection } = volumeNodes(deviceId);
  return [...front, ...connection];
}

/** Gives a volume to a guest that runs. */
export async function plugVolume(qmp: QmpClient, volume: VolumeShape, model: DiskModel): Promise<void> {
  const there = await qmp.execute<{ name: string }[]>('qom-list', { path: '/machine/peripheral' });
  if (there.some(({ name }) => name === volume.id)) return;
  await forget(qmp, ...allNodes(volume.id));
  for (const node of blockNodes(volume)) await qmp.execute('blockdev-add', node);
  await qmp.execute('device_add', blockDevice(volume, model));
}

/**
 * Takes a volume from a guest that runs, once the guest has let go of it.
 * @throws `GUEST_TIMEOUT` when it has not within the time; it keeps the volume then
 */
export async function unplugVolume(qmp: QmpClient, id: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await removeDevice(qmp, id, Math.max(1, Math.min(ASK_AGAIN_MS, deadline - Date.now())), signal))) {
    if (Date.now() >= deadline)
      throw new QemuError('GUEST_TIMEOUT', `the guest has not let go of the volume within ${timeoutMs / 1000} seconds`);
    await sleep(PAUSE_MS, undefined, { signal });
  }
  await forget(qmp, ...allNodes(id));
}

/** Which nodes a volume has, and which names are free. */
async function nodesInUse(qmp: QmpClient, deviceId: string) {
  const all = volumeNodes(deviceId);
  // What an earlier attempt has left goes; what is in use is refused, and stays.
  for (const names of [all.front, all.connection]) {
    const nodes = await blockNodesOf(qmp);
    if (!names.every((name) => nodes.has(name))) continue;
    for (const name of names) await qmp.execute('blockdev-del', { 'node-name': name }).catch(() => {});
  }
  const nodes = await blockNodesOf(qmp);
  const pick = (names: readonly [string, string]) => {
    const [current, free] = nodes.has(names[0]) ? names : [names[1], names[0]];
    const node = nodes.get(current);
    if (!node) throw new QemuError('NOT_POSSIBLE', 'the machine does not have the volume');
    return { current, free, address: node.filename };
  };
  const connection = pick(all.connection);
  return { front: pick(all.front), connection, address: connection.address };
}

/** Has a guest that runs see the size that a volume has grown to. */
export async function growVolume(qmp: QmpClient, volume: VolumeShape): Promise<void> {
  const { front, connection } = await nodesInUse(qmp, volume.id);
  await qmp.execute('blockdev-add', connectionNode(volume, connection.free));
  await qmp.execute('blockdev-reopen', { options: [frontNode(volume, front.current, connection.free)] });
  await forget(qmp, connection.current);
  const size = (await blockNodeOf(qmp, connection.free))['virtual-size'];
  await qmp.execute('block_resize', { 'node-name': front.current, size });
}

/** Copies a volume to another one while the guest writes to it, and has the guest go on with that. */
export async function exchangeVolume(
  qmp: QmpClient,
  id: string,
  target: VolumeShape,
  signal: AbortSignal,
): Promise<void> {
  const job = `mirror-${nodeName(id)}`;
  await forgetJob(qmp, job);
  const { front, connection, address } = await nodesInUse(qmp, id);
  if (address.includes(target.socket)) return;
  await qmp.execute('blockdev-add', connectionNode(target, connection.free));
  try {
    await qmp.execute('blockdev-add', frontNode(target, front.free, connection.free));
    const copy = { 'job-id': job, device: front.current, target: front.free, sync: 'full' } as const;
    await mirrorUntilReady(qmp, copy, 'the volume could not be copied', signal);
    checkEnd(
      await qmp.executeUntil('job-complete', { id: job }, endOf(job), signal),
      'the volume could not be exchanged',
    );
    await forget(qmp, front.current, connection.current);
  } catch (error) {
    await forgetJob(qmp, job).catch(() => {});
    await forget(qmp, front.free, connection.free).catch(() => {});
    throw error;
  }
}
