import { statfs } from 'node:fs/promises';
import { availableParallelism, hostname, totalmem } from 'node:os';
import type { HostSeed } from '@apistrata/compute-engine';
import { look } from './open-host.js';
import { checkQemuOptions, type QemuOptions } from './options.js';
import type { Acceleration } from './programs/acceleration.js';
import { runProgram } from './programs/run-program.js';

/** What this computer is as a host of virtual machines. */
export interface QemuHost {
  /** For the hosts of a preset: named after the computer, with its cores, memory and disk. */
  readonly seed: HostSeed;
  readonly acceleration: Acceleration;
  /** How machines run here and why, for the log. */
  readonly sentence: string;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Memory that machines do not get: the computer has other things to do. */
const RESERVED_MB = 512;

/** `QEMU emulator version 7.2.22` as one number; 0 where it says something else. */
export function versionNumber(text: string): number {
  const [, major = 0, minor = 0, micro = 0] = /version (\d+)\.(\d+)(?:\.(\d+))?/.exec(text)?.map(Number) ?? [];
  return major * 1_000_000 + minor * 1_000 + (micro || 0);
}

/**
 * Finds out what this computer has to run machines with. Memory is given away once, whatever is usual elsewhere: what a guest
 * uses is taken from the others.
 *
 * @throws QemuError with the cure: `QEMU_MISSING`, `DIRECTORY_UNUSABLE`, `ACCELERATION_MISSING`
 */
export async function qemuHost(options: QemuOptions): Promise<QemuHost> {
  checkQemuOptions('qemuHost()', options);
  const { program, directory, runAs, probe } = await look(options);
  const { acceleration, reason } = probe;
  const [version, { blocks, bsize }] = await Promise.all([
    runProgram(program, ['--version'], { runAs, timeoutMs: 10_000 }),
    statfs(directory),
  ]);
  const how = acceleration === 'kvm' ? 'with KVM' : 'by translation (TCG), which is slow';
  return {
    seed: {
      name: hostname(),
      vcpus: availableParallelism(),
      memoryMb: Math.max(RESERVED_MB, Math.floor(totalmem() / MIB) - RESERVED_MB),
      diskGb: Math.max(1, Math.floor((blocks * bsize) / GIB)),
      ramAllocationRatio: 1,
      hypervisorType: acceleration === 'kvm' ? 'KVM' : 'QEMU',
      hypervisorVersion: versionNumber(version),
    },
    acceleration,
    sentence: `machines run with ${program}, ${how}${reason === null ? '' : `: ${reason}`}`,
  };
}
