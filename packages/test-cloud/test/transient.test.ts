import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from './clouds.js';

async function running(options: object) {
  const cloud = await cloudUnderTest({ clock: 'frozen', ...options });
  const request = clientOf(cloud);
  const { id } = (await request('POST', '/compute/v2.1/servers', serverBody())).body.server;
  const status = async () => (await request('GET', `/compute/v2.1/servers/${id}`)).body.server.status;
  return { cloud, request, id, status };
}

describe('transient states', () => {
  it('remain until they are read once', async () => {
    const { cloud, request, id, status } = await running({ transientMs: 1_000_000 });
    await expect.poll(status).toBe('ACTIVE');
    for (const [action, seen] of [
      [{ reboot: { type: 'SOFT' } }, 'REBOOT'],
      [{ reboot: { type: 'HARD' } }, 'HARD_REBOOT'],
      [{ rebuild: { imageRef: '70a599e0-31e7-49b7-b260-868f441e862b' } }, 'REBUILD'],
    ] as const) {
      await request('POST', `/compute/v2.1/servers/${id}/action`, action);
      expect(await status()).toBe(seen);
      await expect.poll(status).toBe('ACTIVE');
    }
    await cloud.idle();
  });

  it('end automatically at their timeout', async () => {
    const { cloud, request, id } = await running({ transientMs: 150 });
    const [listed] = (await request('GET', `/compute/v2.1/servers?status=BUILD`)).body.servers;
    expect(listed.id).toBe(id);
    await cloud.clock.advance('5s');
    await cloud.idle();
    expect((await request('GET', '/compute/v2.1/servers?status=ACTIVE')).body.servers).toHaveLength(1);
  });

  it('end without waiting for a client by default', async () => {
    const { cloud, status } = await running({});
    await cloud.idle();
    expect(await status()).toBe('ACTIVE');
  });
});

describe('the speed of machines', () => {
  it('has the duration of its name', async () => {
    const { cloud, status } = await running({ pace: 'realistic' });
    expect(await status()).toBe('BUILD');
    await cloud.clock.advance(299);
    expect(await status()).toBe('BUILD');
    await cloud.clock.advance('10s');
    await cloud.idle();
    expect(await status()).toBe('ACTIVE');
  });

  it.each([
    [{ pace: 'hasty' }, 'unknown pace "hasty"'],
    [{ pace: 'realistic', latencyMs: 5 }, 'are mutually exclusive'],
    [{ transientMs: -1 }, 'number of milliseconds'],
  ])('rejects %j', async (options, message) => {
    await expect(cloudUnderTest(options as never)).rejects.toThrow(message);
  });
});
