import { createEngine } from '@apistrata/compute-engine';
import { noMachines, SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { createHost } from '@apistrata/compute-engine/hosts';

/**
 * A process that somebody is going to kill: a host with simulated machines, or one that serves and runs no machines. Its
 * argument, as JSON: `database`, and `name`, `directory`, `latencyMs` of a host. Says so when it is up.
 */
const { database, name, directory, latencyMs } = JSON.parse(process.argv[2]);
if (name === undefined) {
  await createEngine({ database, driver: noMachines(), worker: { leaseMs: 1000, pollMs: 200, retryMs: 100 } });
} else {
  await createHost({
    database,
    name,
    driver: (clock) => new SimulatedDriver({ clock, latencyMs, directory }),
    resources: { vcpus: 64, memoryMb: 65_536, diskGb: 1_000 },
    heartbeatMs: 300,
    leaseMs: 900,
    onError: (error) => console.error(name, error),
  });
}
console.log('up');
// What serves has nothing else to live for.
setInterval(() => {}, 60_000);
