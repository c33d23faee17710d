import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QemuError } from '../qemu-error.js';
import { createProbeDisk, PROBE_MODES, PROBE_OUTPUT, PROBE_PORT } from './probe-guest.js';
import { PROGRAM_ENVIRONMENT, type RunAs } from './run-program.js';

/**
 * How guest code runs. `kvm`: directly on the processor. `tcg`: translated by QEMU, which works everywhere but is slow.
 */
export type Acceleration = 'kvm' | 'tcg';

const KVM_DEVICE = '/dev/kvm';

/**
 * The timeouts of a probe guest, in milliseconds. An administrator who requires KVM knows that KVM works, so a slow
 * start only means that the computer is busy.
 */
const PROBE_TIMEOUTS_MS = { auto: 5_000, kvm: 60_000 } as const;

export interface AccelerationProbe {
  readonly acceleration: Acceleration;
  /** Why KVM is not used; null if KVM is used. */
  readonly reason: string | null;
}

/** Returns the group that owns `/dev/kvm`; undefined if the device does not exist. */
export async function findKvmGroup(): Promise<number | undefined> {
  return stat(KVM_DEVICE).then(
    ({ gid }) => gid,
    () => undefined,
  );
}

/** Returns a message that states how far a failed probe guest got. */
function describeFailure(output: string, message: string, timeoutMs: number): string {
  const lastMode = PROBE_MODES[output.at(-1) as keyof typeof PROBE_MODES] ?? 'its firmware';
  const reason = message.trim().split('\n')[0];
  return `a probe guest did not get past ${lastMode} within ${timeoutMs / 1000} seconds${reason ? ` (${reason})` : ''}`;
}

/**
 * Runs a probe guest, which passes through firmware, real mode, protected mode and long mode.
 *
 * @throws Error with the last mode that the guest reached, if it does not complete in time
 */
export async function runProbeGuest(
  program: string,
  acceleration: Acceleration,
  runAs: RunAs | undefined,
  timeoutMs: number,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'apistrata-probe-'));
  try {
    const disk = join(folder, 'disk');
    await chmod(folder, 0o755);
    await writeFile(disk, createProbeDisk(), { mode: 0o644 });
    await runProbeMachine(program, acceleration, disk, runAs, timeoutMs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runProbeMachine(
  program: string,
  acceleration: Acceleration,
  disk: string,
  runAs: RunAs | undefined,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cpu = acceleration === 'kvm' ? 'host' : 'max';
    const args = ['-nodefaults', '-no-user-config', '-machine', `pc,accel=${acceleration}`, '-cpu', cpu, '-m', '32'];
    const drive = ['-drive', `file=${disk},format=raw,if=virtio,readonly=on`];
    const debugPort = ['-chardev', 'stdio,id=debug', '-device', `isa-debugcon,iobase=${PROBE_PORT},chardev=debug`];
    const machine = spawn(program, [...args, '-display', 'none', ...drive, ...debugPort], {
      ...runAs,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: PROGRAM_ENVIRONMENT,
    });
    let errorOutput = '';
    let output = '';
    const killTimer = setTimeout(() => machine.kill('SIGKILL'), timeoutMs);
    machine.stdout.setEncoding('latin1').on('data', (text) => {
      output = `${output}${text}`.slice(0, PROBE_OUTPUT.length);
      if (output === PROBE_OUTPUT) machine.kill('SIGKILL');
    });
    machine.stderr.on('data', (text) => {
      errorOutput = `${errorOutput}${text}`.slice(0, 1_000);
    });
    machine.once('error', (error) => {
      clearTimeout(killTimer);
      reject(error);
    });
    machine.once('close', () => {
      clearTimeout(killTimer);
      if (output === PROBE_OUTPUT) resolve();
      else reject(new Error(describeFailure(output, errorOutput, timeoutMs)));
    });
  });
}

/**
 * Determines the acceleration. The existence of `/dev/kvm` proves little: on nested virtual machines, KVM often hangs
 * or aborts, sometimes only after the firmware has run. A probe guest must therefore reach long mode.
 *
 * @param desired `auto`, or the only acceptable acceleration
 * @param device the device of KVM
 * @throws QemuError `ACCELERATION_MISSING` if `desired` is `kvm`, and KVM does not work
 */
export async function probeAcceleration(
  program: string,
  desired: Acceleration | 'auto',
  runAs: RunAs | undefined,
  device = KVM_DEVICE,
): Promise<AccelerationProbe> {
  if (desired === 'tcg') return { acceleration: 'tcg', reason: 'as configured' };
  try {
    await access(device, constants.F_OK);
    await runProbeGuest(program, 'kvm', runAs, PROBE_TIMEOUTS_MS[desired]);
    return { acceleration: 'kvm', reason: null };
  } catch (error) {
    const reason = `KVM does not work on this computer: ${(error as Error).message}`;
    if (desired === 'kvm') throw new QemuError('ACCELERATION_MISSING', reason);
    return { acceleration: 'tcg', reason };
  }
}
