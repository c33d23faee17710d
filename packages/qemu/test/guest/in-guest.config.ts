import { defineConfig } from 'vitest/config';

/** Runs the tests of volume backends in a guest, where everything takes long without KVM. */
export default defineConfig({
  resolve: { conditions: ['@apistrata/source'] },
  ssr: { resolve: { conditions: ['@apistrata/source', 'node'] } },
  test: {
    include: ['packages/qemu/test/volume-backends.test.ts'],
    hookTimeout: 300_000,
    maxWorkers: 1,
    // Vitest waits a minute for a new worker. A process may start later than that on a busy computer, a thread does not.
    pool: 'threads',
  },
});
