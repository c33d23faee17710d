import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, type Program, startProgram } from './program.js';

describe('project quotas beside the compute API', () => {
  let program: Program;
  beforeAll(async () => {
    program = await startProgram(['--db', ':memory:', '--log-level', 'error', '--quota', 'quota_secrets=7']);
  });
  afterAll(async () => {
    await program.end('SIGTERM');
  });

  it('tell every caller its own limits, out of the configuration', async () => {
    const { status, body } = await ask(program.url, 'GET', '/v1/quotas');
    expect([status, body]).toEqual([
      200,
      { quotas: { secrets: 7, orders: -1, containers: -1, consumers: -1, cas: -1 } },
    ]);
  });

  it('are refused to those without the role, and without a token', async () => {
    expect((await ask(program.url, 'GET', '/v1/project-quotas', { token: 'admin:ops' })).status).toBe(403);
    expect((await fetch(`${program.url}/v1/quotas`)).status).toBe(401);
    expect((await ask(program.url, 'GET', '/v1/nonsense')).status).toBe(404);
  });
});
