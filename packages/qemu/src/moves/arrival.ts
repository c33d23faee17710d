import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { nodeName } from '../machine/block-devices.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import { validateLayout } from '../machine/machine-layout.js';
import { createDisk } from '../machine/prepare-disks.js';
import { ignoreExpectedError } from '../machine/remove-device.js';
import { QemuError } from '../qemu-error.js';
import { queryMemoryMove } from '../qmp/memory-move.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { fetchCompanionFiles, fetchFile, fetchManifest, type RemoteMachine } from './fetch-machine.js';
import { diskFile, LOCAL_DISKS, type MachineManifest } from './machine-manifest.js';
import { findCpuObstacle } from './move-obstacle.js';
import type { TransferRequest } from './transfer-request.js';

/** The maximum time for the rest of the guest's memory to arrive after the switchover. */
const LOAD_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 10;

async function queryStatus(qmp: QmpClient): Promise<string> {
  return (await qmp.execute<{ status: string }>('query-status')).status;
}

/**
 * Returns true if a machine has received its memory or is receiving it. Returns false after an interrupted migration,
 * and for a machine left over from an earlier migration of the server away from this host.
 */
async function isInProgress(remote: RemoteMachine, qmp: QmpClient): Promise<boolean> {
  const status = await queryStatus(qmp);
  if (status === 'postmigrate') return false;
  if (status !== 'inmigrate') return true;
  return (await queryMemoryMove(qmp)).status === 'active' && (await fetchManifest(remote)).leaving;
}

/** Creates disks of the same size as those on the source host, empty except for the image that backs them. */
async function createEmptyDisks(
  { host, signal }: RemoteMachine,
  manifest: MachineManifest,
  folder: MachineFolder,
): Promise<void> {
  for (const disk of LOCAL_DISKS) {
    const bytes = manifest.disks[disk];
    if (bytes === undefined) continue;
    if (bytes === null)
      throw new QemuError('MOVE_FAILED', `the machine does not run with its disk ${disk} on the source host`);
    const base = disk === 'root' && manifest.base ? folder.file('rootBase') : null;
    await createDisk(host.diskTools, diskFile(folder, disk), bytes, base, signal);
  }
}

/** Creates a machine that waits for the memory and the disks of a machine that runs on the source host. */
export async function prepareArrival(
  host: Host,
  server: Server,
  sourceHost: string,
  signal: AbortSignal,
): Promise<void> {
  const remote = { host, server, sourceHost, signal };
  const existingQmp = await host.machine(server).connectIfRunning();
  if (existingQmp && (await isInProgress(remote, existingQmp))) return;
  const manifest = await fetchManifest(remote);
  if (!manifest.layout) throw new QemuError('MACHINE_NOT_RUNNING', `the machine is not running on ${sourceHost}`);
  const layout = validateLayout(manifest.layout);
  const obstacle = layout.cpu && (await findCpuObstacle(host, layout.cpu));
  if (obstacle) throw new QemuError('CPU_UNAVAILABLE', obstacle);
  await host.removeLocalCopy(sourceHost, server);
  const isShared = await host.sharesStorageWith(sourceHost);
  const { folder } = host.machine(server);
  await folder.createFolder();
  if (!isShared) {
    await fetchCompanionFiles(remote, manifest);
    await createEmptyDisks(remote, manifest, folder);
  }
  await writeFile(folder.file('arriving'), sourceHost);
  const qmp = await host.start(server, signal, server.flavor, layout);
  const disks = isShared ? [] : LOCAL_DISKS.filter((disk) => manifest.disks[disk] !== undefined);
  if (disks.length > 0)
    await qmp.execute('nbd-server-start', { addr: { type: 'unix', data: { path: folder.file('export') } } });
  for (const disk of disks)
    await qmp.execute('block-export-add', {
      type: 'nbd',
      id: `export-${disk}`,
      'node-name': nodeName(disk),
      name: disk,
      writable: true,
    });
  await qmp.execute('migrate-incoming', { uri: `unix:${folder.file('moving')}` });
}

async function waitUntilLoaded(qmp: QmpClient): Promise<boolean> {
  for (const deadline = Date.now() + LOAD_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_INTERVAL_MS)) {
    if (!qmp.isOpen) return false;
    if ((await queryStatus(qmp)) !== 'inmigrate') return true;
  }
  return false;
}

/** Copies the console log from the source host, before the machine appends to it. */
async function fetchConsole(remote: RemoteMachine, folder: MachineFolder): Promise<void> {
  const sourceConsole = `${folder.file('console')}.before`;
  await fetchFile(remote, 'console', sourceConsole);
  const file = await open(folder.file('console'), 'a');
  try {
    await file.truncate(0);
    for await (const chunk of createReadStream(sourceConsole)) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
  await rm(sourceConsole, { force: true });
}

/** Resumes a machine that has arrived in a live migration. Returns false if it can no longer arrive. */
async function resumeArrival(host: Host, { serverId, sourceHost, going }: ArrivalRequest): Promise<boolean> {
  const machine = host.machine({ id: serverId });
  const { folder } = machine;
  try {
    const qmp = await machine.connectIfRunning();
    if (!qmp || !(await waitUntilLoaded(qmp))) {
      await machine.powerOff();
      return false;
    }
    // Stopping the NBD server releases the disks, so that the guest can write to them.
    await qmp.execute('nbd-server-stop').catch(ignoreExpectedError(/not running/i));
    if (await folder.exists('arriving')) {
      const server = { id: serverId } as Server;
      const signal = AbortSignal.timeout(LOAD_TIMEOUT_MS);
      await fetchConsole({ host, server, sourceHost, signal }, folder);
      await folder.removeFiles('arriving');
    }
    if (going) await qmp.execute('cont');
    return true;
  } catch (error) {
    if (!(await folder.exists('arriving'))) throw error;
    // The guest has not run on this host yet, so it can still continue on the source host.
    await machine.powerOff();
    return false;
  }
}

type ArrivalRequest = Extract<TransferRequest, { readonly kind: 'complete arrival' }>;

/** Resumes a machine that has arrived in a live migration. Idempotent: repeated requests have the same result. */
export function completeArrival(host: Host, request: ArrivalRequest): Promise<boolean> {
  const { serverId } = request;
  const completion =
    host.arrivals.get(serverId) ?? resumeArrival(host, request).finally(() => host.arrivals.delete(serverId));
  host.arrivals.set(serverId, completion);
  return completion;
}
