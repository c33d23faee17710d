import { statfs } from 'node:fs/promises';
import { availableParallelism, hostname, totalmem } from 'node:os';
import { ownAddress } from '@apistrata/compute-engine/api';
import type { HostSeed } from '@apistrata/compute-engine/preset';
import { inspectComputer } from './open-host.js';
import { checkQemuOptions, type QemuOptions } from './options.js';
import type { Acceleration } from './programs/acceleration.js';
import { runProgram } from './programs/run-program.js';

/** This computer as a host for virtual machines. */
export interface QemuHost {
  /** The host entry for an engine's preset, with the name, cores, memory and disk of this computer. */
  readonly seed: HostSeed;
  readonly acceleration: Acceleration;
  /** A log line that states how machines are accelerated, and why. */
  readonly summary: string;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** The memory in MiB that is reserved for the computer itself. */
const RESERVED_MB = 512;

/** Parses a version such as `QEMU emulator version 7.2.22` into a number (`7002022`); 0 for other strings. */
export function parseVersion(text: string): number {
  const [, major = 0, minor = 0, micro = 0] = /version (\d+)\.(\d+)(?:\.(\d+))?/.exec(text)?.map(Number) ?? [];
  return major * 1_000_000 + minor * 1_000 + (micro || 0);
}

/**
 * Returns this computer as a host for virtual machines. Its memory is not overcommitted, because guests would take
 * memory from each other.
 *
 * @throws QemuError `QEMU_MISSING`, `DIRECTORY_UNUSABLE` or `ACCELERATION_MISSING`; the message states the fix
 */
export async function qemuHost(options: QemuOptions): Promise<QemuHost> {
  checkQemuOptions('qemuHost()', options);
  const { program, directory, runAs, probe } = await inspectComputer(options);
  const { acceleration, reason } = probe;
  const [version, { blocks, bsize }] = await Promise.all([
    runProgram(program, ['--version'], { runAs, timeoutMs: 10_000 }),
    statfs(directory),
  ]);
  const accelerationMethod = acceleration === 'kvm' ? 'with KVM' : 'by translation (TCG), which is slow';
  return {
    seed: {
      name: hostname(),
      address: ownAddress(),
      vcpus: availableParallelism(),
      memoryMb: Math.max(RESERVED_MB, Math.floor(totalmem() / MIB) - RESERVED_MB),
      diskGb: Math.max(1, Math.floor((blocks * bsize) / GIB)),
      ramAllocationRatio: 1,
      hypervisorType: acceleration === 'kvm' ? 'KVM' : 'QEMU',
      hypervisorVersion: parseVersion(version),
    },
    acceleration,
    summary: `machines run with ${program}, ${accelerationMethod}${reason === null ? '' : `: ${reason}`}`,
  };
}
