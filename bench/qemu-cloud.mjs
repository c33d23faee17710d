import { createReadStream } from 'node:fs';
import { join } from 'node:path';

const IMAGE = '11111111-1111-4111-8111-111111111111';
const KERNEL = '22222222-2222-4222-8222-222222222222';

/** Makes the kernel print to the serial console as early as possible. */
const COMMAND_LINE = 'console=ttyS0 earlyprintk=ttyS0';

/**
 * Starts an engine with virtual machines, and returns a function that creates a server.
 * @param kernel the file that machines boot; if omitted, machines boot nothing
 */
export async function emptyCloud(createEngine, qemuDriver, directory, program, kernel) {
  const properties = kernel ? { kernel_id: KERNEL, os_command_line: COMMAND_LINE } : {};
  const kernels = kernel
    ? [{ id: KERNEL, name: 'kernel', diskFormat: 'aki', content: () => createReadStream(kernel) }]
    : [];
  const engine = await createEngine({
    database: join(directory, 'cloud.db'),
    settings: { quotas: { instances: -1, cores: -1, ram: -1 } },
    preset: {
      hosts: [{ name: 'here', vcpus: 1_000, memoryMb: 1_000_000, diskGb: 10_000 }],
      flavors: [{ id: '1', name: 'small', vcpus: 1, memoryMb: kernel ? 160 : 32, diskGb: 1 }],
      images: [{ id: IMAGE, name: 'image', diskFormat: 'raw', content: Buffer.alloc(2 ** 20), properties }, ...kernels],
    },
    driver: qemuDriver({
      directory: join(directory, 'q'),
      program,
      acceleration: kernel ? 'auto' : 'tcg',
      shutdownTimeoutMs: 0,
      runAs: { uid: process.getuid(), gid: process.getgid() },
    }),
    onError: (error) => console.error(error),
  });
  const context = {
    caller: { userId: 'ada', projectId: 'demo', roles: ['member'] },
    requestId: 'req-bench',
    isAdmin: false,
  };
  const request = { name: 'web', flavorId: '1', imageId: IMAGE, networks: 'none' };
  return { engine, context, request };
}
