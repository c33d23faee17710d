import { readFile, writeFile } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { askStory, type FarMachine, fetchCompanions, fetchFile } from './fetch-machine.js';
import { diskFile, OWN_DISKS } from './machine-story.js';

/** What a disk leans on is where it is here. */
async function leanOnImage({ host, signal }: FarMachine, folder: MachineFolder): Promise<void> {
  const { qemuImg, runAs } = host.parts;
  const here = ['-F', 'raw', '-b', folder.file('rootBase'), folder.file('root')];
  await runProgram(qemuImg, ['rebase', '-u', '-f', 'qcow2', ...here], { runAs, signal });
}

/** Brings a machine here that is off: its own disks, and all that it needs beside them. Nothing where it was brought before. */
export async function fetchDisks(far: FarMachine): Promise<void> {
  const { host, server, sourceHost } = far;
  const machine = host.machine(server);
  const { folder } = machine;
  if (await machine.running()) return;
  const story = await askStory(far);
  if (story.move === null) throw new QemuError('MOVE_FAILED', `${sourceHost} has no disks for a move`);
  if ((await readFile(folder.file('move'), 'utf8').catch(() => null)) === story.move) return;
  await folder.remove();
  await folder.make();
  await fetchCompanions(far, story);
  await fetchFile(far, 'console', folder.file('console'));
  for (const disk of OWN_DISKS) if (story.disks[disk] !== undefined) await fetchFile(far, disk, diskFile(folder, disk));
  if (story.base) await leanOnImage(far, folder);
  await writeFile(folder.file('move'), story.move);
}
