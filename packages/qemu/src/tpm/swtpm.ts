import { findInstalledProgram } from '../programs/find-program.js';
import { type RunAs, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { Tpm } from './requested-tpm.js';

/** The TPM emulator `swtpm` that is installed on this computer. */
export interface Swtpm {
  readonly program: string;
  /** The emulator's capabilities, such as `tpm-2.0`. */
  readonly features: ReadonlySet<string>;
}

const QUERY_TIMEOUT_MS = 10_000;

/** Returns the TPM emulator of this computer; undefined if none is installed. */
export async function findSwtpm(runAs: RunAs | undefined): Promise<Swtpm | undefined> {
  const program = findInstalledProgram('swtpm');
  if (program === undefined) return undefined;
  const response = await runProgram(program, ['socket', '--print-capabilities'], {
    runAs,
    timeoutMs: QUERY_TIMEOUT_MS,
  });
  const { features = [] } = JSON.parse(response) as { features?: readonly string[] };
  return { program, features: new Set(features) };
}

export function supportsTpm({ features }: Swtpm, version: Tpm['version']): boolean {
  return features.has(`tpm-${version}`);
}

/**
 * Returns the TPM emulator of this computer, after checking that it supports the TPM that a machine requires.
 *
 * @throws QemuError `UNSUPPORTED` if no emulator is installed, or if it does not support the TPM version
 */
export async function requireSwtpm({ version }: Tpm, runAs: RunAs | undefined): Promise<Swtpm> {
  const swtpm = await findSwtpm(runAs);
  if (!swtpm)
    throw new QemuError(
      'UNSUPPORTED',
      `a TPM is required (hw_tpm_version=${version}): install the package swtpm on this host`,
    );
  if (!supportsTpm(swtpm, version))
    throw new QemuError('UNSUPPORTED', `swtpm on this host does not support TPM version ${version}`);
  return swtpm;
}
