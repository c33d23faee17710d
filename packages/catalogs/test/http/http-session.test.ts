import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceSession } from '../../src/http/index.js';
import { type FakeIdentity, SERVICE_PROJECT, startFakeIdentity } from '../fake-services/fake-identity.js';

let identity: FakeIdentity;
beforeAll(async () => {
  identity = await startFakeIdentity();
});
afterAll(() => identity.close());

describe('the service session', () => {
  it('logs in once for concurrent requests, and again when the token is about to expire', async () => {
    const session = new ServiceSession(identity.credentials);
    const before = identity.journal.length;
    const tokens = await Promise.all(Array.from({ length: 10 }, () => session.token()));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
    expect(tokens[0]!.projectId).toBe(SERVICE_PROJECT);
    expect(identity.journal.length - before).toBe(1);
    identity.lifetime.ms = 30_000;
    const short = new ServiceSession(identity.credentials);
    const first = await short.token();
    identity.lifetime.ms = 3_600_000;
    expect((await short.token()).token).not.toBe(first.token);
  });

  it('reports the cause of a failed login, and recovers as soon as the identity service does', async () => {
    const wrong = new ServiceSession({ ...identity.credentials, password: 'guess' });
    await expect(wrong.token()).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    await expect(new ServiceSession(identity.credentials).token('closed-project')).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    const session = new ServiceSession(identity.credentials, { timeoutMs: 2000 });
    for (let time = 0; time < 2; time++) identity.fail('POST', /tokens/, 'drop');
    await expect(session.token()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect((await session.token()).projectId).toBe(SERVICE_PROJECT);
  });

  it('retries after a broken connection', async () => {
    identity.fail('POST', /tokens/, 'drop');
    expect((await new ServiceSession(identity.credentials).token()).projectId).toBe(SERVICE_PROJECT);
  });

  it('does not log in for each request after a wrong password, which could lock its user', async () => {
    let now = Date.now();
    const wrong = new ServiceSession({ ...identity.credentials, password: 'guess' }, { now: () => now });
    const before = identity.journal.length;
    await expect(wrong.token()).rejects.toThrow('rejected the service credentials with 401');
    await expect(wrong.token()).rejects.toThrow('recently rejected');
    expect(identity.journal.length - before).toBe(1);
    now += 10_000;
    await expect(wrong.token()).rejects.toThrow('with 401');
  });

  it('keeps its own token when it has no role in a project', async () => {
    const session = new ServiceSession(identity.credentials);
    const own = await session.token();
    await expect(session.token('closed-project')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await session.token()).toEqual(own);
  });
});
