import { defineConfig } from 'vitest/config';

const report = process.env.VITEST_REPORT;

export default defineConfig({
  resolve: { conditions: ['@apistrata/source'] },
  ssr: { resolve: { conditions: ['@apistrata/source', 'node'] } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'examples/*/{src,test}/**/*.test.ts', 'testing/**/*.test.ts'],
    globalSetup: ['testing/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    reporters: report ? ['default', 'json'] : ['default'],
    ...(report && { outputFile: { json: report } }),
  },
});
