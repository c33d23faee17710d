import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { nodeName } from '../machine/block-devices.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import { checkedLayout } from '../machine/machine-layout.js';
import { makeDisk } from '../machine/prepare-disks.js';
import { unlessSo } from '../machine/remove-device.js';
import { QemuError } from '../qemu-error.js';
import { memoryMove } from '../qmp/memory-move.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { askStory, type FarMachine, fetchCompanions, fetchFile } from './fetch-machine.js';
import { diskFile, type MachineStory, OWN_DISKS } from './machine-story.js';
import type { HostQuestion } from './questions.js';

/** How long the rest of a memory may be on its way. */
const LOAD_MS = 60_000;
const LOOK_MS = 10;

async function statusOf(qmp: QmpClient): Promise<string> {
  return (await qmp.execute<{ status: string }>('query-status')).status;
}

/** Whether a machine has got what it waits for, or is getting it: one whose move was cut off waits for nothing any more. */
async function isUnderWay(far: FarMachine, qmp: QmpClient): Promise<boolean> {
  if ((await statusOf(qmp)) !== 'inmigrate') return true;
  return (await memoryMove(qmp)).status === 'active' && (await askStory(far)).leaving;
}

/** Disks as large as those of the source, and empty but for the image. */
async function makeEmptyDisks({ host, signal }: FarMachine, story: MachineStory, folder: MachineFolder): Promise<void> {
  for (const disk of OWN_DISKS) {
    const bytes = story.disks[disk];
    if (bytes === undefined) continue;
    if (bytes === null) throw new QemuError('MOVE_FAILED', `the machine does not use its disk ${disk}`);
    const base = disk === 'root' && story.base ? folder.file('rootBase') : null;
    await makeDisk(host.disks, diskFile(folder, disk), bytes, base, signal);
  }
}

/** Makes a machine that waits for the memory and the disks of one that runs on another host. */
export async function prepareArrival(
  host: Host,
  server: Server,
  sourceHost: string,
  signal: AbortSignal,
): Promise<void> {
  const machine = host.machine(server);
  const { folder } = machine;
  const far = { host, server, sourceHost, signal };
  const before = await machine.running();
  if (before && (await isUnderWay(far, before))) return;
  await machine.end();
  const shared = await host.shares(sourceHost);
  await (shared ? folder.removeHere() : folder.remove());
  await folder.make();
  const story = await askStory(far);
  if (!story.layout) throw new QemuError('MACHINE_NOT_RUNNING', `the machine does not run on ${sourceHost}`);
  if (!shared) {
    await fetchCompanions(far, story);
    await makeEmptyDisks(far, story, folder);
  }
  await writeFile(folder.file('arriving'), sourceHost);
  const qmp = await host.start(server, signal, server.flavor, checkedLayout(story.layout));
  const disks = shared ? [] : OWN_DISKS.filter((disk) => story.disks[disk] !== undefined);
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

async function isLoaded(qmp: QmpClient): Promise<boolean> {
  for (const deadline = Date.now() + LOAD_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
    if (!qmp.isOpen) return false;
    if ((await statusOf(qmp)) !== 'inmigrate') return true;
  }
  return false;
}

/** The console has printed nothing here yet: what it printed there comes before that. */
async function bringConsole(far: FarMachine, folder: MachineFolder): Promise<void> {
  const before = `${folder.file('console')}.before`;
  await fetchFile(far, 'console', before);
  const file = await open(folder.file('console'), 'a');
  try {
    await file.truncate(0);
    for await (const piece of createReadStream(before)) await file.writeFile(piece);
  } finally {
    await file.close();
  }
  await rm(before, { force: true });
}

/** Has a machine go on here that has been sent by another host. False: it is not here, and never will be. */
async function goOn(host: Host, { serverId, sourceHost, going }: Arrival): Promise<boolean> {
  const machine = host.machine({ id: serverId });
  const { folder } = machine;
  try {
    const qmp = await machine.running();
    if (!qmp || !(await isLoaded(qmp))) {
      await machine.end();
      return false;
    }
    // The guest gets the disks for itself.
    await qmp.execute('nbd-server-stop').catch(unlessSo(/not running/i));
    if (await folder.exists('arriving')) {
      const server = { id: serverId } as Server;
      const signal = AbortSignal.timeout(LOAD_MS);
      await bringConsole({ host, server, sourceHost, signal }, folder);
      await folder.removeFiles('arriving');
    }
    if (going) await qmp.execute('cont');
    return true;
  } catch (error) {
    if (!(await folder.exists('arriving'))) throw error;
    // The guest has done nothing here yet.
    await machine.end();
    return false;
  }
}

type Arrival = Extract<HostQuestion, { readonly ask: 'arrive' }>;

/** Who asks again hears the same. */
export function arrive(host: Host, question: Arrival): Promise<boolean> {
  const { serverId } = question;
  const known = host.arrivals.get(serverId) ?? goOn(host, question).finally(() => host.arrivals.delete(serverId));
  host.arrivals.set(serverId, known);
  return known;
}
