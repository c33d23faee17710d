import { expect, it } from 'vitest';
import { MachineFolder } from '../machine/machine-folder.js';
import { tpmArguments } from './tpm-process.js';

const TPM = { version: '2.0', model: 'tpm-tis' } as const;

function argumentsOf(
  features: readonly string[],
  incoming = false,
  folder = new MachineFolder('/m', undefined),
): string {
  return tpmArguments(TPM, { features: new Set(features) }, folder, incoming).join(' ');
}

it('starts a TPM of the requested version', () => {
  expect(argumentsOf([])).toContain('socket --tpm2 ');
  const old = tpmArguments(
    { ...TPM, version: '1.2' },
    { features: new Set() },
    new MachineFolder('/m', undefined),
    false,
  );
  expect(old).not.toContain('--tpm2');
});

it('stores the state with the disks, and the rest in the local folder', () => {
  const all = argumentsOf([], false, new MachineFolder('/m', undefined, '/shared'));
  expect(all).toContain('dir=/shared,mode=0600');
  expect(all).toContain('path=/m/tpm --pid file=/m/tpm.pid');
});

it('releases the lock on its state in a live migration if the emulator supports this', () => {
  expect(argumentsOf([], true)).not.toContain('--migration');
  expect(argumentsOf(['cmdarg-migration'])).toMatch(/ --migration release-lock-outgoing$/);
  expect(argumentsOf(['cmdarg-migration'], true)).toMatch(/ --migration release-lock-outgoing,incoming$/);
});
