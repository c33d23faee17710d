import type { Driver } from './driver.js';

/**
 * Creates the driver for processes that serve the API without running machines, because all hosts are separate
 * processes (`createHost`).
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import { noMachines } from '@apistrata/compute-engine/drivers';
 *
 * const engine = await createEngine({ database: 'postgres://cloud@localhost/cloud', driver: noMachines(), preset: { hosts: [] } });
 * ```
 */
export function noMachines(): Driver {
  return {
    name: 'none',
    isSynchronous: ({ verb }) => verb === 'prepare',
    async perform({ verb }, { host }) {
      if (verb !== 'prepare')
        throw new Error(
          `this process does not run machines, and no separate process runs ${host ?? "the server's host"}`,
        );
    },
    consoleOutput: async () => '',
    diagnostics: async () => null,
    console: async () => null,
  };
}
