import { dirname } from 'node:path';
import type { MachineFolder } from '../machine/machine-folder.js';
import { endProcess, findProcess, type ProcessFiles, startProgram } from '../machine/machine-process.js';
import type { RunAs } from '../programs/run-program.js';
import type { Tpm } from './requested-tpm.js';
import { requiredSwtpm, type Swtpm } from './swtpm.js';

/** The files of the TPM's process, which are in the folder of its machine. */
function filesOf(folder: MachineFolder): ProcessFiles {
  return {
    path: folder.path,
    file: (name) => folder.file(name === 'pid' ? 'tpmPid' : 'tpmErrorLog'),
    staleFiles: [folder.file('tpmPid'), folder.file('tpm')],
  };
}

/**
 * Returns the command line of a TPM. It exits when its machine disconnects, so it lives exactly as long as the machine.
 *
 * @param incoming whether its state arrives with the memory of the machine
 */
export function tpmArguments(
  { version }: Tpm,
  { features }: Pick<Swtpm, 'features'>,
  folder: MachineFolder,
  incoming: boolean,
): readonly string[] {
  // Programs that lock the state hand the lock over in a live migration between hosts that share it.
  const migration = ['release-lock-outgoing', ...(incoming ? ['incoming'] : [])].join();
  return [
    ...['socket', ...(version === '2.0' ? ['--tpm2'] : []), '--terminate'],
    ...['--tpmstate', `dir=${dirname(folder.file('tpm2State'))},mode=0600`],
    ...['--ctrl', `type=unixio,path=${folder.file('tpm')}`],
    ...['--pid', `file=${folder.file('tpmPid')}`],
    ...(features.has('cmdarg-migration') ? ['--migration', migration] : []),
  ];
}

/**
 * Starts the TPM of a machine that is off, in a process that outlives this one. Its state is created at the first start
 * of the machine.
 *
 * @throws QemuError `UNSUPPORTED` if this host cannot emulate it, `MACHINE_ENDED` with the error of the process
 */
export async function startTpm(
  folder: MachineFolder,
  tpm: Tpm,
  runAs: RunAs | undefined,
  incoming: boolean,
  signal: AbortSignal,
): Promise<void> {
  const swtpm = await requiredSwtpm(tpm, runAs);
  await endTpm(folder);
  const files = filesOf(folder);
  const args = tpmArguments(tpm, swtpm, folder, incoming);
  // The process writes its pid file when it listens.
  await startProgram(files, { program: swtpm.program, args, runAs, ready: () => findProcess(files) }, signal);
}

/** Ends the TPM of a machine that is off: one to which no machine has connected does not end by itself. */
export function endTpm(folder: MachineFolder): Promise<void> {
  return endProcess(filesOf(folder));
}
