import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { machineDirectory } from '../../../../packages/qemu/test/qemu-cloud.js';
import { runProgram } from '../program.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: options for the CPU of guests: this machine has no ${missing} ***\n`);

const folder = machineDirectory();
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const options = ['--db', join(folder, 'cloud.db'), '--driver', 'qemu', '--acceleration', 'tcg'];

describe.skipIf(missing)('options for the CPU of guests', { timeout: 60_000 }, () => {
  it.each([
    [['--cpu-model', 'Nehalem'], '--driver qemu: qemuHost(): cpuModel requires cpuMode custom, not host-passthrough'],
    [['--cpu-feature=-'], '--driver qemu: qemuHost(): cpuFeatures must contain CPU feature names'],
    [
      ['--cpu-mode', 'custom', '--cpu-model', 'Nehalen'],
      'QEMU does not have the CPU model Nehalen (cpuModel): this computer can provide',
    ],
    [['--cpu-feature=-nonsense', '--cpu-feature', '+aes'], 'QEMU does not have the CPU feature nonsense (cpuFeatures)'],
  ])('are rejected if they are invalid, or if the host cannot provide the CPU: %j', async (more, sentence) => {
    const { code, output } = await runProgram([...options, '--machine-dir', join(folder, 'qemu'), ...more]);
    expect(output).toContain(sentence);
    expect(code).toBe(1);
  });
});
