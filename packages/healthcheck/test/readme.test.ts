import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { declaredOptions, wrongOptionRows } from '../../../testing/option-tables.js';
import { OPTION_NAMES } from '../src/options.js';
import { GRACEFUL_OPTION_NAMES } from '../src/server/graceful-options.js';
import { startServer } from './start-program.js';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const readme = read('../README.md');

describe('the first examples of the README', () => {
  it('are identical to the code of this test', () => {
    expect(readme).toContain(`\`\`\`ts\n${read('readme.example.ts')}\`\`\``);
    expect(readme).toContain(`\`\`\`js\n${read('readme.example.cjs')}\`\`\``);
  });

  it('responds as the README shows, and shuts down gracefully after SIGTERM', async () => {
    const { child, request, output, ended } = await startServer('readme.example.ts');
    expect(await request('/healthcheck')).toMatchObject({ status: 200, body: 'OK\nOK' });
    const json = await request('/healthcheck', { headers: { accept: 'application/json' } });
    expect(readme).toContain(json.body);
    child.kill('SIGTERM');
    await eventually(async () => {
      const responses = await Promise.all(['/livez', '/readyz', '/healthcheck', '/'].map((path) => request(path)));
      expect(responses.map(({ status }) => status)).toEqual([200, 503, 503, 200]);
    });
    expect(await ended).toBe(0);
    expect(output()).toBe('database closed\n');
  });

  it('works in CommonJS', async () => {
    const { child, request, output, ended } = await startServer('readme.example.cjs');
    expect(await request('/healthcheck')).toMatchObject({ status: 200, body: 'OK' });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(output()).toBe('database closed\n');
  });
});

it('the README has a row for every option', () => {
  const names = [...OPTION_NAMES, ...GRACEFUL_OPTION_NAMES];
  expect(names.filter((name) => !readme.includes(`| \`${name}\``))).toEqual([]);
});

it.each([
  ['options.ts', 'HealthcheckOptions'],
  ['check.ts', 'CheckTiming'],
  ['server/graceful-options.ts', 'GracefulServerOptions'],
  ['server/drain.ts', 'DrainOptions'],
  ['server/limits.ts', 'GuardLimits'],
])('the README has the type and default of each option in %s: %s', (file, name) => {
  expect(wrongOptionRows(readme, read(`../src/${file}`), name)).toEqual([]);
});

it.each([
  ['event-loop.ts', 'EventLoopDelayOptions'],
  ['event-loop.ts', 'EventLoopUtilizationOptions'],
  ['memory.ts', 'HeapOptions'],
  ['memory.ts', 'RssOptions'],
  ['disk-space.ts', 'DiskSpaceOptions'],
  ['network.ts', 'HttpOptions'],
  ['ping.ts', 'PingOptions'],
  ['certificate.ts', 'CertificateOptions'],
])('the table of built-in checks has the type and default of each option in %s: %s', (file, name) => {
  const options = declaredOptions(read(`../src/checks/${file}`), name);
  const shown = options.map(
    (option) => `${option.name}: ${option.type}${option.default ? ` = ${option.default}` : ''}`,
  );
  expect(shown).not.toEqual([]);
  expect(shown.filter((option) => !readme.includes(`\`${option}\``))).toEqual([]);
});
