import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, sendRequest, startProgram } from './program.js';

describe('project quotas next to the compute API', () => {
  let program: Program;
  beforeAll(async () => {
    program = await startProgram(['--db', ':memory:', '--log-level', 'error', '--quota', 'quota_secrets=7']);
  });
  afterAll(async () => {
    await program.end('SIGTERM');
  });

  it('show every caller its own configured limits', async () => {
    const { status, body } = await sendRequest(program.url, 'GET', '/v1/quotas');
    expect([status, body]).toEqual([
      200,
      { quotas: { secrets: 7, orders: -1, containers: -1, consumers: -1, cas: -1 } },
    ]);
  });

  it('are denied to callers without the role, and without a token', async () => {
    expect((await sendRequest(program.url, 'GET', '/v1/project-quotas', { token: 'admin:ops' })).status).toBe(403);
    expect((await fetch(`${program.url}/v1/quotas`)).status).toBe(401);
    expect((await sendRequest(program.url, 'GET', '/v1/nonsense')).status).toBe(404);
  });
});
