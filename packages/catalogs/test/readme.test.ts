import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the README contains the tested example', async () => {
  const code = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  const { network } = await import('./readme.example.js');
  expect(network).toMatchObject({ name: 'inside', projectId: 'demo' });
});
