import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloud, type TestCloud } from '../../../src/index.js';
import { PYTHON } from '../e2e/command-lines.js';
import { sampleFile } from './sample-file.js';

const run = promisify(execFile);

/** By default, modules write below the home directory of their user. */
const folder = mkdtempSync(join(tmpdir(), 'ansible-'));
const file = sampleFile();
afterAll(() => {
  file.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** `ANSIBLE_COLLECTIONS_PATH` and `ANSIBLE_PYTHON_INTERPRETER` may override those of the distribution. */
const env = {
  ANSIBLE_PYTHON_INTERPRETER: PYTHON,
  ...process.env,
  ANSIBLE_LOCAL_TEMP: folder,
  ANSIBLE_REMOTE_TEMP: folder,
  ANSIBLE_NOCOLOR: '1',
  PYTHONWARNINGS: 'ignore',
};

/** The error of a collection that does not work on this machine; undefined if it connects to a cloud. */
function unusable(): string | undefined {
  const anonymous = 'http://127.0.0.1:1/v3';
  const login = { auth_url: anonymous, username: 'x', password: 'x', project_name: 'x', user_domain_name: 'x' };
  const args = ['localhost', '-i', 'localhost,', '-c', 'local', '-m', 'openstack.cloud.auth', '-a'];
  const { error, stdout, stderr } = spawnSync('ansible', [...args, JSON.stringify({ auth: login })], {
    env,
    encoding: 'utf8',
  });
  if (error) return error.message;
  return stdout.includes('127.0.0.1:1') ? undefined : (/"msg": "(.*)"/.exec(stdout)?.[1] ?? stderr.trim());
}

const reason = unusable();
if (reason) console.warn(`\n*** SKIPPED: the Ansible collection: ${reason} ***\n`);

describe.skipIf(reason !== undefined)('the Ansible collection', { timeout: 600_000 }, () => {
  let cloud: TestCloud;
  const errors: unknown[] = [];
  beforeAll(async () => {
    cloud = await startCloud({ onError: (error) => errors.push(error) });
  });
  afterAll(() => cloud?.stop());

  /** The number of tasks, and of those that changed something. */
  async function runPlaybook(name: string): Promise<{ tasks: number; changed: number }> {
    const book = join(import.meta.dirname, `ansible_${name}.yml`);
    const args = ['-i', 'localhost,', '-e', `file=${file.path}`, book];
    const { stdout } = await run('ansible-playbook', args, { env: { ...env, ...cloud.envFor({}) } }).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
    const [, tasks, changed] = /ok=(\d+) +changed=(\d+) +unreachable=0 +failed=0 /.exec(stdout) ?? [];
    expect(tasks, stdout).toBeDefined();
    return { tasks: Number(tasks), changed: Number(changed) };
  }

  it('creates everything', async () => {
    expect(await runPlaybook('made')).toEqual({ tasks: 28, changed: 28 });
  });

  it('changes nothing in its second run', async () => {
    expect(await runPlaybook('made')).toEqual({ tasks: 28, changed: 0 });
  });

  it('removes everything', async () => {
    expect(await runPlaybook('gone')).toEqual({ tasks: 24, changed: 24 });
  });

  it('sent no unhandled requests, and caused no errors in the cloud', () => {
    expect(cloud.unhandled()).toEqual([]);
    expect(errors).toEqual([]);
  });
});
