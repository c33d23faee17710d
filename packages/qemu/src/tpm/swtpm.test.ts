import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { findSwtpm, requireSwtpm } from './swtpm.js';

const TPM = { version: '1.2', model: 'tpm-tis' } as const;

let folder: string | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  if (folder !== undefined) await rm(folder, { recursive: true });
  folder = undefined;
});

/** Installs a fake `swtpm` that reports the given features. */
async function install(features: readonly string[]): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'swtpm-'));
  const program = join(folder, 'swtpm');
  await writeFile(program, `#!/bin/sh\necho '${JSON.stringify({ type: 'swtpm', features })}'\n`);
  await chmod(program, 0o755);
  vi.stubEnv('PATH', folder);
  return program;
}

it('finds the installed emulator and its features', async () => {
  const program = await install(['tpm-2.0']);
  expect(await findSwtpm(undefined)).toEqual({ program, features: new Set(['tpm-2.0']) });
});

it('reports the missing package', async () => {
  vi.stubEnv('PATH', '/nonexistent');
  expect(await findSwtpm(undefined)).toBeUndefined();
  await expect(requireSwtpm(TPM, undefined)).rejects.toThrow(
    'a TPM is required (hw_tpm_version=1.2): install the package swtpm on this host',
  );
});

it('rejects a TPM version that the emulator does not support', async () => {
  await install(['tpm-2.0']);
  await expect(requireSwtpm(TPM, undefined)).rejects.toThrow('does not support TPM version 1.2');
  expect(await requireSwtpm({ ...TPM, version: '2.0' }, undefined)).toBeDefined();
});
