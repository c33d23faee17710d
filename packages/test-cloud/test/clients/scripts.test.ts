import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { startCloud, type TestCloud } from '../../src/index.js';
import { PYTHON } from '../e2e/command-lines.js';

const run = promisify(execFile);
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A library, the program that has it, how to see whether it is there, and a day with it. */
const LIBRARIES = [
  ['libcloud', PYTHON, ['-W', 'ignore', '-c', 'import libcloud'], ['-W', 'ignore', here('./libcloud_day.py')]],
  ['fog', 'ruby', ['-W0', '-e', "require 'fog/openstack'"], ['-W0', here('./fog_day.rb')]],
] as const;

describe.each(LIBRARIES)('%s', (name, program, check, day) => {
  const installed = spawnSync(program, check, { stdio: 'ignore' }).status === 0;
  if (!installed) console.warn(`\n*** SKIPPED: this machine has no ${name} ***\n`);
  let cloud: TestCloud | undefined;
  afterEach(() => cloud?.stop());

  it.skipIf(!installed)('spends a day', { timeout: 120_000 }, async () => {
    const errors: unknown[] = [];
    cloud = await startCloud({ onError: (error) => errors.push(error) });
    const { stdout } = await run(program, day, { env: { ...process.env, ...cloud.env } }).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
    expect(stdout).toContain('done');
    expect(cloud.unserved()).toEqual([]);
    expect(errors).toEqual([]);
  });
});
