import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

it('the client is smaller than 3 kB in the bundle of a program', async () => {
  const entry = join(import.meta.dirname, '../../src/client/index.ts');
  const program = `import { createClient } from ${JSON.stringify(entry)}; globalThis.client = createClient('/', { version: '1' });`;
  const bundle = await rolldown({
    input: 'program',
    platform: 'browser',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? id : undefined),
        load: (id) => (id === 'program' ? program : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ minify: true });
  const [{ code }] = output;
  expect(code).toContain('API-Version');
  expect(Buffer.byteLength(code)).toBeLessThan(3000);
});
