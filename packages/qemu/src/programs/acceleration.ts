import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';
import { PROGRAM_ENVIRONMENT, type RunAs } from './run-program.js';

/** How guests run: `kvm` by the processor itself, `tcg` by translation, which works everywhere and is slow. */
export type Acceleration = 'kvm' | 'tcg';

const KVM = '/dev/kvm';

/** Where the firmware of PCs writes its messages. */
const DEBUG_PORT = '0x402';
const PROBE_MS = 2_000;

export interface Probe {
  readonly acceleration: Acceleration;
  /** Why it is not KVM; null where it is. */
  readonly reason: string | null;
}

/** The group that may use KVM; undefined where there is no KVM. */
export async function kvmGroup(): Promise<number | undefined> {
  return stat(KVM).then(
    ({ gid }) => gid,
    () => undefined,
  );
}

/** Runs a guest that is nothing but firmware until it says a word. Rejects with what went wrong. */
function runFirmware(program: string, runAs: RunAs | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const args = ['-nodefaults', '-no-user-config', '-machine', 'pc,accel=kvm', '-cpu', 'host', '-m', '32'];
    const tell = ['-chardev', 'stdio,id=debug', '-device', `isa-debugcon,iobase=${DEBUG_PORT},chardev=debug`];
    const machine = spawn(program, [...args, '-display', 'none', ...tell], {
      ...runAs,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: PROGRAM_ENVIRONMENT,
    });
    let complaint = '';
    let said = false;
    const late = setTimeout(() => machine.kill('SIGKILL'), PROBE_MS);
    machine.stdout.once('data', () => {
      said = true;
      machine.kill('SIGKILL');
    });
    machine.stderr.on('data', (text) => {
      complaint = `${complaint}${text}`.slice(0, 1_000);
    });
    machine.once('error', reject);
    machine.once('close', () => {
      clearTimeout(late);
      if (said) return resolve();
      reject(new Error(complaint.trim().split('\n')[0] || `a guest said nothing within ${PROBE_MS / 1000} seconds`));
    });
  });
}

/**
 * Finds out how guests can run. That there is a `/dev/kvm` says little: on nested machines it is often there and hangs, or
 * aborts, so a guest has to run for a moment.
 *
 * @param desired `auto`, or what it must be: `ACCELERATION_MISSING` where it cannot
 */
export async function probeAcceleration(
  program: string,
  desired: Acceleration | 'auto',
  runAs: RunAs | undefined,
): Promise<Probe> {
  if (desired === 'tcg') return { acceleration: 'tcg', reason: 'as asked for' };
  try {
    await access(KVM, constants.F_OK);
    await runFirmware(program, runAs);
    return { acceleration: 'kvm', reason: null };
  } catch (error) {
    const reason = `KVM does not work here: ${(error as Error).message}`;
    if (desired === 'kvm') throw new QemuError('ACCELERATION_MISSING', reason);
    return { acceleration: 'tcg', reason };
  }
}
