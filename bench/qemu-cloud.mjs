import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createEngine } from '@apistrata/compute-engine';
import { qemuDriver } from '@apistrata/qemu';

/** The image of all machines, with nothing on it. */
export const IMAGE = '11111111-1111-4111-8111-111111111111';
const KERNEL = '22222222-2222-4222-8222-222222222222';
const RAMDISK = '33333333-3333-4333-8333-333333333333';

/** The memory of machines in MiB: those with a guest, and those that boot nothing. */
export const GUEST_MIB = 160;
const EMPTY_MIB = 32;

/** The user that runs QEMU: the user of this process. */
export const RUN_AS = { uid: process.getuid(), gid: process.getgid() };

/**
 * Starts an engine with these options.
 *
 * @param guest the files that machines boot (a kernel, possibly a ramdisk) and the command line of the kernel; if
 *   omitted, machines boot nothing
 */
export function openEngine(options, guest, hosts = []) {
  const bootFile = (id, name, diskFormat) =>
    guest?.[name] ? [{ id, name, diskFormat, content: () => createReadStream(guest[name]) }] : [];
  const properties = guest
    ? { kernel_id: KERNEL, os_command_line: guest.commandLine, ...(guest.ramdisk && { ramdisk_id: RAMDISK }) }
    : {};
  return createEngine({
    settings: { quotas: { instances: -1, cores: -1, ram: -1 } },
    preset: {
      hosts,
      flavors: [{ id: '1', name: 'small', vcpus: 1, memoryMb: guest ? GUEST_MIB : EMPTY_MIB, diskGb: 1 }],
      images: [
        { id: IMAGE, name: 'image', diskFormat: 'raw', content: Buffer.alloc(2 ** 20), properties },
        ...bootFile(KERNEL, 'kernel', 'aki'),
        ...bootFile(RAMDISK, 'ramdisk', 'ari'),
      ],
    },
    onError: (error) => console.error(error),
    ...options,
  });
}

/** Returns the folder of a server's machine; see `openCloud`. */
export const folderOf = (directory, id) => join(directory, 'q', 'machines', id);

/** Starts an engine whose servers are virtual machines of this process. */
export function openCloud(directory, { program = 'qemu-system-x86_64', acceleration = 'tcg', guest } = {}) {
  const machines = { directory: join(directory, 'q'), runAs: RUN_AS };
  const driver = qemuDriver({ ...machines, program, acceleration, shutdownTimeoutMs: 0 });
  const hosts = [{ name: 'here', vcpus: 1_000, memoryMb: 1_000_000, diskGb: 10_000 }];
  return openEngine({ database: join(directory, 'cloud.db'), driver }, guest, hosts);
}
