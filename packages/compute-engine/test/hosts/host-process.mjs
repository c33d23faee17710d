import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine, Rejection } from '@apistrata/compute-engine';
import { noMachines, SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { createHost } from '@apistrata/compute-engine/hosts';

/** A driver that responds with its name, and rejects a shutdown. */
class NamedDriver extends SimulatedDriver {
  #maintained = false;

  async hostUptime(host) {
    return `${host}, in process ${process.pid}${this.#maintained ? ', maintained' : ''}`;
  }

  async hostPower(host, action) {
    if (action === 'shutdown') throw new Rejection('BAD_REQUEST', `${host} stays up`);
    return `${action} of ${host}`;
  }

  async hostMaintenance(_host, on) {
    this.#maintained = on;
  }

  async cacheImages(_host, imageIds) {
    writeFileSync(join(directory, 'images'), imageIds.join());
  }

  async obstacle(verb, server) {
    return verb === 'set_password' && server.name === 'web'
      ? { code: 'CONFLICT', message: `the guest of ${name} sleeps` }
      : null;
  }
}

/**
 * A process that a test kills: a host with simulated machines, or an API process without machines. Its argument is a
 * JSON object with `database` and, for a host, `name`, `directory` and `latencyMs`. Reports when it is up.
 */
const { database, name, directory, latencyMs } = JSON.parse(process.argv[2]);
if (name === undefined) {
  await createEngine({ database, driver: noMachines(), worker: { leaseMs: 1000, pollMs: 200, retryMs: 100 } });
} else {
  await createHost({
    database,
    name,
    driver: (clock) => new NamedDriver({ clock, latencyMs, directory }),
    resources: { vcpus: 64, memoryMb: 65_536, diskGb: 1_000 },
    heartbeatMs: 300,
    leaseMs: 900,
    onError: (error) => console.error(name, error),
  });
}
console.log('up');
// Keeps an API process alive.
setInterval(() => {}, 60_000);
