// A host process for the benchmark `hosts.mjs`. Its driver does nothing.
import { createHost } from '@apistrata/compute-engine/hosts';

const [database] = process.argv.slice(2);
await createHost({
  database,
  name: 'h1',
  driver: {
    name: 'nothing',
    // Like QEMU's driver, it has nothing to prepare.
    supports: (verb) => verb !== 'prepare',
    perform: async () => {},
    consoleOutput: async () => '',
    diagnostics: async () => null,
    console: async () => null,
  },
  resources: { vcpus: 100_000, memoryMb: 2 ** 30, diskGb: 2 ** 30 },
});
console.log('up');
