import { createHost } from '@apistrata/compute-engine/hosts';
import { qemuDriver } from '@apistrata/qemu';

/** A host that somebody is going to kill. Arguments: the database, its name, the folder of its machines, more options of them. */
const [database, name, directory, more] = process.argv.slice(2);
await createHost({
  database,
  name,
  driver: qemuDriver({
    directory,
    acceleration: 'tcg',
    shutdownTimeoutMs: 30_000,
    volumes: false,
    ...JSON.parse(more),
  }),
  resources: { vcpus: 16, memoryMb: 16_384, diskGb: 100, ramAllocationRatio: 1 },
  address: '127.0.0.1',
  heartbeatMs: 1_000,
  leaseMs: 3_000,
  onError: (error) => console.error(name, error),
});
console.log('up');
