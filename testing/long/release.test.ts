import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const quick = join(import.meta.dirname, '../release/quick.mjs');

/** Whether third-party packages, which installations need, are available. */
const online = spawnSync('npm', ['view', 'express', 'version'], { timeout: 60_000 }).status === 0;
if (!online) console.warn('\n*** SKIPPED: the installation of a published package: no registry can be reached ***\n');

it.skipIf(!online)(
  'a published package can be installed and used',
  () => {
    // Like `npm run`, it uses the configuration of the user, with its registry and token. Nothing may be published to
    // that registry.
    const userconfig = execFileSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).trim();
    const env = { ...process.env, npm_config_userconfig: userconfig };
    const output = execFileSync(process.execPath, [quick], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(output).toMatch(/^ok request-id, \d+, 5, npm, \d, cjs, none$/m);
  },
  600_000,
);
