import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { registryPackage } from '../../../../../testing/registry-package.js';
import { startCloud, type TestCloud } from '../../../src/index.js';
import { PYTHON } from '../e2e/command-lines.js';

const run = promisify(execFile);
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The folder of a package that is not a dependency of this repository, because its own dependencies take 140 MB. */
const NODE_PATH = await registryPackage('pkgcloud@2.2.0');

/** A library, its program, a check whether it is installed, and a workflow that uses it. */
const LIBRARIES = [
  ['libcloud', PYTHON, ['-W', 'ignore', '-c', 'import libcloud'], ['-W', 'ignore', here('./libcloud_workflow.py')]],
  ['fog', 'ruby', ['-W0', '-e', "require 'fog/openstack'"], ['-W0', here('./fog_workflow.rb')]],
  ['pkgcloud', process.execPath, ['-e', "require('pkgcloud')"], ['--no-warnings', here('./pkgcloud_workflow.cjs')]],
] as const;

describe.each(LIBRARIES)('%s', (name, program, check, workflow) => {
  const installed = spawnSync(program, check, { stdio: 'ignore', env: { ...process.env, NODE_PATH } }).status === 0;
  if (!installed) console.warn(`\n*** SKIPPED: this machine has no ${name} ***\n`);
  let cloud: TestCloud | undefined;
  afterEach(() => cloud?.stop());

  it.skipIf(!installed)('performs a workflow of typical operations', { timeout: 120_000 }, async () => {
    const errors: unknown[] = [];
    cloud = await startCloud({ onError: (error) => errors.push(error) });
    const { stdout } = await run(program, workflow, { env: { ...process.env, NODE_PATH, ...cloud.env } }).catch(
      (error) => {
        throw new Error(`${error.stdout}\n${error.stderr}`);
      },
    );
    expect(stdout).toContain('done');
    expect(cloud.unhandled()).toEqual([]);
    expect(errors).toEqual([]);
  });
});
