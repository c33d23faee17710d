import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundledProgram } from '../../../../testing/bundled-program.js';

/** Returns the stderr of a process that creates two stores. */
async function warnings(env: Readonly<Record<string, string>>): Promise<string> {
  const program = await bundledProgram(join(import.meta.dirname, 'counting.program.ts'));
  const { status, stderr } = spawnSync(process.execPath, [program], {
    env: { ...cleanEnv(), ...env },
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stderr;
}

function cleanEnv(): NodeJS.ProcessEnv {
  const { WEB_CONCURRENCY, pm_id, instances, NODE_UNIQUE_ID, ...env } = process.env;
  return env;
}

describe('memoryStore()', () => {
  it.each([
    ['a cluster worker', { FORK: '1' }, 'this process is a cluster worker'],
    ['WEB_CONCURRENCY', { WEB_CONCURRENCY: '4' }, 'WEB_CONCURRENCY is 4'],
    ['PM2', { pm_id: '0', instances: 'max' }, 'this process is managed by PM2'],
  ])('warns once under %s', async (_name, env, reason) => {
    const text = await warnings(env);
    expect(text).toContain(
      `[APISTRATA_QUOTA_PER_PROCESS] QuotaWarning: memoryStore() counts only in this process, but ${reason}`,
    );
    expect(text.match(/QuotaWarning/g)).toHaveLength(1);
  });

  it.each([
    ['one process', {}],
    ['WEB_CONCURRENCY of 1', { WEB_CONCURRENCY: '1' }],
    ['one instance under PM2', { pm_id: '0', instances: '1' }],
    ['perProcess', { FORK: '1', PER_PROCESS: '1' }],
  ])('does not warn with %s', async (_name, env) => {
    expect(await warnings(env)).not.toContain('QuotaWarning');
  });
});
