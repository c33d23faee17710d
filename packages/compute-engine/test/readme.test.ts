import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the example in the README runs and equals this code', async () => {
  const code = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  const { booted } = await import('./readme.example.js');
  expect(booted).toMatchObject({ vmState: 'active', name: 'web' });
});
