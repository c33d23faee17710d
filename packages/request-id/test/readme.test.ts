import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask } from '../../../testing/ask.js';
import { PRESETS } from '../src/presets.js';
import { OPTION_NAMES } from '../src/settings.js';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');

describe('the first example of the README', () => {
  it('is the one that is run here', () => {
    const example = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
    expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
  });

  it('answers as the README says', async () => {
    process.env.PORT = '0';
    const { app, server } = await import('./readme.example.js');
    server.close();
    const { body, headers } = await ask(app, { headers: { 'X-Request-Id': 'order-4711' } });
    expect(headers['x-request-id']).toBe('order-4711');
    expect(readme).toContain(`X-Request-Id: order-4711\n\n${body}\n`);
  });
});

it('the README has a row for every option and every preset', () => {
  const names = [...OPTION_NAMES, ...Object.keys(PRESETS)];
  expect(names.filter((name) => !readme.includes(`| \`${name}\``))).toEqual([]);
});
