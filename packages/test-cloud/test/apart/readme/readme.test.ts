import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundledProgram } from '../../../../../testing/bundled-program.js';

const README = '../../../README.md';
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const command = await bundledProgram(fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url)));

/**
 * Interpreters that may have both pytest and the SDK: as installed, or with the system's packages added to another
 * interpreter's path.
 */
const interpreters = [
  { python: '/usr/bin/python3', path: undefined },
  { python: 'python3', path: undefined },
  { python: 'python3', path: '/usr/lib/python3/dist-packages' },
].map(({ python, path }) => ({ python, env: { ...process.env, ...(path && { PYTHONPATH: path }) } }));

const able = interpreters.find(
  ({ python, env }) => spawnSync(python, ['-W', 'ignore', '-c', 'import openstack, pytest'], { env }).status === 0,
);
if (!able) console.warn('\n*** SKIPPED: the pytest example: no Python here has both pytest and openstacksdk ***\n');

describe('the documentation', () => {
  it.each([
    ['servers.test.ts', README],
    ['test_servers.py', README],
    ['servers_test.go', '../../../../../docs/test-cloud-in-ci.md'],
  ])('shows %s as it is tested', (name, page) => {
    expect(read(page)).toContain(read(name).trim());
  });

  it.skipIf(!able)('has a pytest example that passes', () => {
    const script = fileURLToPath(new URL('test_servers.py', import.meta.url));
    const env = { ...able!.env, TEST_CLOUD: `${process.execPath} ${command}` };
    const result = spawnSync(able!.python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', script], {
      env,
      encoding: 'utf8',
    });
    expect(result.stdout, result.stderr).toContain('1 passed');
  });
});
