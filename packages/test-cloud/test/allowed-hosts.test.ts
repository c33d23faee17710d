import { afterEach, describe, expect, it } from 'vitest';
import { requestByHost } from '../../../testing/request-by-host.js';
import { type CloudOptions, startCloud, type TestCloud } from '../src/index.js';

const PATHS = ['/', '/_page/clients', '/_control/requests', '/docs', '/compute/v2.1/flavors', '/identity/v3', '/other'];

describe('the Host header of requests to a test cloud', () => {
  let cloud: TestCloud;
  afterEach(() => cloud.stop());

  async function statuses(host: string, options: CloudOptions = {}): Promise<number[]> {
    cloud = await startCloud({ preset: 'minimal', control: true, ...options });
    const headers = { 'x-auth-token': cloud.token() };
    return Promise.all(PATHS.map(async (path) => (await requestByHost(`${cloud.url}${path}`, host, headers)).status));
  }

  it('must name this computer; a page of another site cannot reach services, pages or control', async () => {
    expect(new Set(await statuses('rebound.example'))).toEqual(new Set([421]));
    expect(cloud.requests()).toEqual([]);
  });

  it('may be localhost', async () => {
    expect(await statuses('localhost:8774')).not.toContain(421);
  });

  it('may be a configured name of the cloud', async () => {
    expect(await statuses('cloud.example', { allowedHosts: ['cloud.example'] })).not.toContain(421);
  });

  it('may be any name if the cloud listens on all addresses', async () => {
    expect(await statuses('cloud.example', { host: '0.0.0.0' })).not.toContain(421);
  });
});
