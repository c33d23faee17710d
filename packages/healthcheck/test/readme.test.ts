import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPTION_NAMES } from '../src/options.js';
import { serve } from './serve.js';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');

describe('the first example of the README', () => {
  it('is the one that is run here', () => {
    const example = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
    expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
  });

  it('answers as the README says, and fails readiness when it is told to end', async () => {
    process.env.PORT = '0';
    const before = process.listeners('SIGTERM');
    const { app, server } = await import('./readme.example.js');
    server.close();
    const { ask } = await serve(app);
    expect(await ask('/healthcheck')).toMatchObject({ status: 200, body: 'OK\nOK' });
    const json = await ask('/healthcheck', { headers: { accept: 'application/json' } });
    expect(readme).toContain(json.body);
    const end = process.listeners('SIGTERM').find((listener) => !before.includes(listener))!;
    end('SIGTERM');
    process.off('SIGTERM', end);
    const answers = await Promise.all(['/livez', '/readyz', '/healthcheck'].map((path) => ask(path)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 503, 503]);
  });
});

it('the README has a row for every option', () => {
  const rows = OPTION_NAMES.filter((name) => !readme.includes(`| \`${name}\``));
  expect(rows).toEqual([]);
});
