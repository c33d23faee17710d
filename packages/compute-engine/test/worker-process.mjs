import { createEngine } from '@apistrata/compute-engine';
import { SimulatedDriver } from '@apistrata/compute-engine/drivers';

/**
 * A process that executes jobs until it is killed. Its argument is a JSON object with `database` and `latencyMs`.
 * Reports when it is up.
 */
const { database, latencyMs } = JSON.parse(process.argv[2]);
await createEngine({
  database,
  driver: (clock) => new SimulatedDriver({ clock, latencyMs }),
  worker: { leaseMs: 1000, pollMs: 100, retryMs: 100 },
  onError: (error) => console.error(error),
});
console.log('up');
setInterval(() => {}, 60_000);
