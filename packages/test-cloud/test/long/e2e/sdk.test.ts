import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cloudUnderTest } from '../../clouds.js';
import { highestKnownVersion, PYTHON, warnWithoutClients } from './command-lines.js';
import { publicKeyFile } from './public-key-file.js';

const run = promisify(execFile);
const highest = highestKnownVersion();
warnWithoutClients(highest, 'apply and destroy with the Python SDK');

const VERSIONS = ['2.1', '2.26', '2.53', '2.72', '2.90', '2.100'];

describe.skipIf(highest === undefined)('the Python SDK', () => {
  it.each(VERSIONS)('reads back what it created and deletes all of it, at %s', async (version) => {
    const cloud = await cloudUnderTest();
    const key = publicKeyFile();
    const script = fileURLToPath(new URL('./sdk_apply.py', import.meta.url));
    const env = { ...cloud.envFor({ user: 'demo', project: 'demo' }), PATH: process.env.PATH, HOME: '/nonexistent' };
    const { stdout } = await run(PYTHON, ['-W', 'ignore', script, version, key.path], { env, timeout: 25_000 }).finally(
      key.remove,
    );
    expect(JSON.parse(stdout)).toEqual({ different: [], remaining: [] });
    expect(cloud.unhandled()).toEqual([]);
    expect(cloud.requests().filter(({ status }) => status >= 500)).toEqual([]);
  });
});
