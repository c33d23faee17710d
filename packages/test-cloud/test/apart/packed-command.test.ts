import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWholeProgram } from '../whole-program.js';

const source = join(import.meta.dirname, '../..');
const PNPM = join(source, '../../scripts/pnpm.mjs');
const built = existsSync(join(source, 'dist/cli/main.js'));
if (!built) console.warn('\n*** SKIPPED: the command as it is published: the packages are not built ***\n');

/** Prints the URL of every module that is loaded. */
const HOOKS = `
import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(1, 'loaded ' + url + '\\n');
  return next(url, context);
}`;
const WATCH = `
import { register } from 'node:module';
register('./hooks.mjs', import.meta.url);`;

/** Uses options, results and records of the engine. Wrong types must cause compile errors. */
const TYPED_USE = `
import { startCloud, type CloudOptions, type TestCloud } from '@apistrata/test-cloud';

const options: CloudOptions = {
  preset: { flavors: [{ id: '1', name: 'tiny', vcpus: 1, memoryMb: 512, diskGb: 1 }] },
  settings: {},
};
const cloud: TestCloud = await startCloud(options);
cloud.rules.machine({ match: { verb: 'spawn' }, fail: 'no room' });
const context = { caller: { userId: 'ada', projectId: 'demo', roles: [] }, requestId: 'req-1', isAdmin: false };
const servers: readonly { readonly id: string }[] = await cloud.engine.servers.list(context, { limit: 1 });
const stopped: void = await cloud.engine.servers.act(context, '1', 'os-stop');
const password: string = await cloud.engine.servers.act(context, '1', 'rescue', { mayBeVolumeBacked: true });
console.log(servers, stopped, password);
// @ts-expect-error: a resize needs a flavor
await cloud.engine.servers.act(context, '1', 'resize');
// @ts-expect-error: a flavor has a name
const wrong: CloudOptions = { preset: { flavors: [{ id: '1' }] } };
// @ts-expect-error: machines do not have this step
cloud.rules.machine({ match: { verb: 'dance' } });
console.log(wrong);
`;

describe.skipIf(!built)('the published command', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'apistrata-packed-')));
  const installed = join(folder, 'node_modules', '@apistrata', 'test-cloud');
  let command = '';

  /** Packs the package, extracts the tarball and links its dependencies. */
  beforeAll(() => {
    execFileSync(process.execPath, [PNPM, 'pack', '--pack-destination', folder], {
      cwd: source,
      stdio: 'pipe',
    });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components', '1']);
    const { dependencies, optionalDependencies, bin } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    command = join(installed, bin['apistrata-test-cloud']);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const target = join(folder, 'node_modules', name);
      mkdirSync(dirname(target), { recursive: true });
      symlinkSync(realpathSync(join(source, 'node_modules', name)), target, 'junction');
    }
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('consists of a few files instead of its thousand modules', () => {
    writeFileSync(join(folder, 'hooks.mjs'), HOOKS);
    writeFileSync(join(folder, 'watch.mjs'), WATCH);
    const args = ['--import', join(folder, 'watch.mjs'), command, '--quiet', '--', process.execPath, '--eval', ''];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const files = stdout.split('\n').filter((line) => line.startsWith('loaded file:'));
    expect(status, stderr).toBe(0);
    expect(files.length).toBeGreaterThan(1);
    expect(files.length).toBeLessThanOrEqual(22);
  });

  it('has types for a strict project without other packages, declarations checked', () => {
    const types = join(folder, 'node_modules/@types/node');
    mkdirSync(dirname(types), { recursive: true });
    symlinkSync(realpathSync(join(source, '../../node_modules/@types/node')), types, 'junction');
    writeFileSync(join(folder, 'use.mts'), TYPED_USE);
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2023',
      '--types',
      'node',
    ];
    const tsc = join(source, '../../node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'use.mts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, '']);
  }, 60_000);

  it('contains the licenses of its bundled packages', () => {
    const groups = readFileSync(join(installed, 'dist/LICENSES.txt'), 'utf8').split(/^-{80}$/m);
    for (const name of ['express', 'kysely', 'zod', 'find-my-way']) {
      const entry = new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)\\nCopyright .*`, 'im');
      expect(groups.filter((group) => entry.test(group))).toEqual([
        expect.stringMatching(/Permission is hereby granted[\s\S]*THE SOFTWARE IS PROVIDED .AS IS./),
      ]);
    }
  });

  it('contains all resources that the cloud loads later: pages, their scripts, certificates', () =>
    expectWholeProgram(process.execPath, [command]));
});
