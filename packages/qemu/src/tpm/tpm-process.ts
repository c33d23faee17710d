import { dirname } from 'node:path';
import type { MachineFolder } from '../machine/machine-folder.js';
import { findProcess, killProcess, type ProcessFiles, startDetached } from '../machine/machine-process.js';
import type { RunAs } from '../programs/run-program.js';
import type { Tpm } from './requested-tpm.js';
import { requireSwtpm, type Swtpm } from './swtpm.js';

/** Returns the files of a TPM emulator process, which are in the machine's folder. */
function filesOf(folder: MachineFolder): ProcessFiles {
  return {
    path: folder.path,
    file: (name) => folder.file(name === 'pid' ? 'tpmPid' : 'tpmErrorLog'),
    staleFiles: [folder.file('tpmPid'), folder.file('tpm')],
  };
}

/**
 * Returns the arguments of a TPM emulator, which exits when its machine disconnects.
 *
 * @param incoming whether the TPM state arrives with the machine's memory
 */
export function tpmArguments(
  { version }: Tpm,
  { features }: Pick<Swtpm, 'features'>,
  folder: MachineFolder,
  incoming: boolean,
): readonly string[] {
  // In a live migration between hosts that share the TPM state, `swtpm` must release its lock on the state.
  const migrationOptions = ['release-lock-outgoing', ...(incoming ? ['incoming'] : [])].join();
  return [
    ...['socket', ...(version === '2.0' ? ['--tpm2'] : []), '--terminate'],
    ...['--tpmstate', `dir=${dirname(folder.file('tpm2State'))},mode=0600`],
    ...['--ctrl', `type=unixio,path=${folder.file('tpm')}`],
    ...['--pid', `file=${folder.file('tpmPid')}`],
    ...(features.has('cmdarg-migration') ? ['--migration', migrationOptions] : []),
  ];
}

/**
 * Starts a detached TPM emulator for a machine that is about to start. The first start creates the TPM state.
 *
 * @throws QemuError `UNSUPPORTED` if this host cannot emulate the TPM, `MACHINE_ENDED` with the emulator's error
 */
export async function startTpm(
  folder: MachineFolder,
  tpm: Tpm,
  runAs: RunAs | undefined,
  incoming: boolean,
  signal: AbortSignal,
): Promise<void> {
  const swtpm = await requireSwtpm(tpm, runAs);
  await endTpm(folder);
  const files = filesOf(folder);
  const args = tpmArguments(tpm, swtpm, folder, incoming);
  // The emulator writes its pid file as soon as it listens.
  await startDetached(files, { program: swtpm.program, args, runAs, ready: () => findProcess(files) }, signal);
}

/** Ends a machine's TPM emulator, which does not exit by itself if no machine has connected. */
export function endTpm(folder: MachineFolder): Promise<void> {
  return killProcess(filesOf(folder));
}
