import { readFile, writeFile } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';
import { askStory, type FarMachine, fetchCompanions, fetchFile } from './fetch-machine.js';
import { diskFile, OWN_DISKS } from './machine-story.js';

/**
 * Brings a machine here that is off: its own disks and all that it needs beside them, unless they are here already, shared with
 * the other host. Nothing where it was brought before.
 */
export async function fetchDisks(far: FarMachine): Promise<void> {
  const { host, server, sourceHost } = far;
  const machine = host.machine(server);
  const { folder } = machine;
  if (await machine.running()) return;
  const story = await askStory(far);
  if (story.move === null) throw new QemuError('MOVE_FAILED', `${sourceHost} has no disks for a move`);
  if ((await readFile(folder.file('move'), 'utf8').catch(() => null)) === story.move) return;
  const shared = await host.shares(sourceHost);
  await (shared ? folder.removeHere() : folder.remove());
  await folder.make();
  await fetchFile(far, 'console', folder.file('console'));
  if (!shared) {
    await fetchCompanions(far, story);
    for (const disk of OWN_DISKS)
      if (story.disks[disk] !== undefined) await fetchFile(far, disk, diskFile(folder, disk));
  }
  await writeFile(folder.file('move'), story.move);
}
