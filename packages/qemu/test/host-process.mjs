import { killAfter } from './kill/steps.mjs';

const { createHost } = await import('@apistrata/compute-engine/hosts');
const { qemuDriver } = await import('@apistrata/qemu');

/**
 * A host process that tests kill, or that exits at a given step. Arguments: the database, its name, the folder of its machines,
 * and JSON: `driver`, additional driver options, and `link`, additional link options.
 */
const [database, name, directory, more] = process.argv.slice(2);
const { driver, link } = JSON.parse(more);
const host = await createHost({
  database,
  name,
  driver: qemuDriver({ directory, acceleration: 'tcg', shutdownTimeoutMs: 30_000, volumes: false, ...driver }),
  resources: { vcpus: 16, memoryMb: 16_384, diskGb: 100, ramAllocationRatio: 1 },
  address: '127.0.0.1',
  heartbeatMs: 1_000,
  leaseMs: 3_000,
  ...link,
  onError: (error) => console.error(name, error),
  onLost: () => console.error(`${name}: another process has taken over the host`),
});
process.once('SIGTERM', () => host.stop().then(() => process.exit()));
// JSON does not represent Infinity.
process.on('message', ({ when }) => killAfter(when ?? Number.POSITIVE_INFINITY));
console.log('up');
