import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bundledProgram } from '../../../testing/bundled-program.js';

const UNITS = join(import.meta.dirname, '../../../docs/operating');
const MAIN = join(import.meta.dirname, '../src/main.ts');
const INSTALLED = '/usr/bin/env node /opt/apistrata/dist/main.js';

/** The units for virtual machines in the documents. */
export const MACHINE_UNITS = ['apistrata-machines.service', 'apistrata-host.service'] as const;
export type MachineUnit = (typeof MACHINE_UNITS)[number];

/** Copies a unit to a folder. */
export function copyUnit(unit: MachineUnit, folder: string): void {
  copyFileSync(join(UNITS, unit), join(folder, unit));
}

/** Writes a drop-in with lines for the section `Service` of a unit. */
export function addDropIn(unit: MachineUnit, folder: string, name: string, lines: readonly string[]): void {
  mkdirSync(join(folder, `${unit}.d`), { recursive: true });
  writeFileSync(join(folder, `${unit}.d`, name), `[Service]\n${lines.join('\n')}\n`);
}

/** How a unit differs from its installed form in a test. */
export interface TestRun {
  /** The working directory, which replaces `/var/lib/apistrata`. */
  readonly directory: string;
  /** Additional environment variables, as systemd reads them. */
  readonly environment: string;
  /** Texts in the command of the unit, with what replaces them. */
  readonly replaced?: readonly (readonly [string, string])[];
  /** Additional options of the program. */
  readonly options: string;
}

/** Copies a unit to a folder, with a drop-in that makes its command run the program from the sources. */
export async function installUnit(
  unit: MachineUnit,
  folder: string,
  { directory, environment, replaced = [], options }: TestRun,
): Promise<void> {
  copyUnit(unit, folder);
  const shipped = /^ExecStart=(.*)$/m.exec(readFileSync(join(UNITS, unit), 'utf8'))?.[1] ?? '';
  const program = `${process.execPath} ${await bundledProgram(MAIN, () => import('../src/main.js'))}`;
  const replacements = [[INSTALLED, program] as const, ...replaced];
  const command = replacements.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, shipped);
  addDropIn(unit, folder, 'test.conf', [
    'StateDirectory=',
    `WorkingDirectory=${directory}`,
    `Environment=PATH=${process.env.PATH} ${environment}`,
    'ExecStart=',
    `ExecStart=${command} ${options}`,
  ]);
}

/** Returns the drop-in for LVM in the documents, for a given physical volume. */
export function poolDropIn(physicalVolume: string): readonly string[] {
  const text = readFileSync(join(UNITS, 'volume-pool.conf'), 'utf8');
  expect(text).toContain('DeviceAllow=/dev/sdb rw');
  return text.replace('/dev/sdb', physicalVolume).split('[Service]\n')[1]!.split('\n');
}
