import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeConfigDrive } from '../src/guest/config-drive.js';
import { MachineFolder } from '../src/machine/machine-folder.js';
import { findInstalledProgram } from '../src/programs/find-program.js';
import { createProbeDisk, PROBE_OUTPUT, PROBE_PORT } from '../src/programs/probe-guest.js';

const PROGRAMS = ['qemu-system-x86_64', 'qemu-img'] as const;
const missing = PROGRAMS.find((name) => findInstalledProgram(name) === undefined);
if (missing) console.warn(`\n*** SKIPPED: firmware that reads a config drive: this machine has no ${missing} ***\n`);

const folder = mkdtempSync(join(tmpdir(), 'config-drive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FLOPPY_BYTES = 1_474_560;

/** Starts a machine that boots from a hard disk, then from a floppy disk. Returns its output on the debug port. */
function bootFrom(disk: string, floppy: string): () => string {
  const drive = (file: string, kind: string) => ['-drive', `file=${file},format=raw,readonly=on,if=${kind}`];
  const args = [
    ...['-nodefaults', '-machine', 'pc,accel=tcg', '-m', '32', '-display', 'none', '-device', 'virtio-scsi-pci'],
    ...[...drive(disk, 'none,id=disk'), '-device', 'scsi-hd,drive=disk,bootindex=1'],
    ...[...drive(floppy, 'floppy'), '-global', 'isa-fdc.bootindexA=2'],
    ...['-chardev', 'stdio,id=debug', '-device', `isa-debugcon,iobase=${PROBE_PORT},chardev=debug`],
  ];
  const machine = spawn(PROGRAMS[0], args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void machine.kill('SIGKILL'));
  let output = '';
  machine.stdout.setEncoding('latin1').on('data', (text) => {
    output += text;
  });
  return () => output;
}

describe.skipIf(missing)('a config drive', () => {
  it('makes firmware that boots from it continue with the next kind of device', async () => {
    const server = { id: 'id', name: 'guest', metadata: {}, blockDevices: [], userData: null } as Partial<Server>;
    const metadata = { server: server as Server, interfaces: [], secrets: { adminPassword: null, files: [] } };
    const machine = new MachineFolder(folder, undefined);
    await writeConfigDrive(metadata, machine, 'configDrive', 'qemu-img', { runAs: undefined });
    const floppy = join(folder, 'floppy');
    writeFileSync(floppy, Buffer.concat([createProbeDisk()], FLOPPY_BYTES));
    await expect.poll(bootFrom(machine.file('configDrive'), floppy)).toBe(PROBE_OUTPUT);
  });
});
