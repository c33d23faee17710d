import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { type Program, sendRequest, startProgram } from './program.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';

describe('the reference server in front of other services', () => {
  let cloud: TestCloud;
  let program: Program;
  let token: string;

  beforeAll(async () => {
    cloud = await startCloud();
    const services = ['--auth', 'identity', '--identity-url', cloud.authUrl.replace(/\/v3\/?$/, '')];
    for (const [name, path] of [
      ['image', '/image'],
      ['network', '/network'],
      ['volume', '/volume/v3'],
    ]) {
      services.push(`--${name}-url`, `${cloud.url}${path}`);
    }
    program = await startProgram([...services, '--db', ':memory:', '--log-level', 'error'], {
      OS_USERNAME: 'admin',
      OS_PASSWORD: 'secret',
      OS_PROJECT_NAME: 'demo',
    });
    token = cloud.token('ada', 'demo');
  });

  afterAll(async () => {
    expect(await program.end('SIGTERM')).toBe(0);
    await cloud.stop();
  });

  const compute = (method: string, path: string, body?: unknown) =>
    sendRequest(program.url, method, `/v2.1${path}`, { token, version: '2.60', body });
  const service = (method: string, path: string, body?: unknown) =>
    sendRequest(cloud.url, method, path, { token, body });

  async function settled(id: string, status: string): Promise<any> {
    return eventually(
      async () => {
        const { server } = (await compute('GET', `/servers/${id}`)).body;
        expect([server.status, server['OS-EXT-STS:task_state'], server.fault]).toEqual([status, null, undefined]);
        return server;
      },
      { interval: 100 },
    );
  }

  it('accepts only callers of the identity service', async () => {
    expect((await compute('GET', '/servers')).status).toBe(200);
    expect((await sendRequest(program.url, 'GET', '/v2.1/servers', { token: 'ada:demo' })).status).toBe(401);
  });

  it('boots a server on a network, with a volume, and stores a snapshot in the image service', {
    timeout: 60_000,
  }, async () => {
    const [network] = (await service('GET', '/network/v2.0/networks?router:external=false')).body.networks;
    const created = await compute('POST', '/servers', {
      server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: [{ uuid: network.id }] },
    });
    expect([created.status, created.body]).toMatchObject([202, {}]);
    const { id } = created.body.server;
    const server = await settled(id, 'ACTIVE');
    const ports = async () => (await service('GET', `/network/v2.0/ports?device_id=${id}`)).body.ports as any[];
    const [port] = await ports();
    expect(port).toMatchObject({ device_owner: expect.stringMatching(/^compute:/), network_id: network.id });
    expect(server.addresses[network.name][0].addr).toBe(port.fixed_ips[0].ip_address);

    const { volume } = (await service('POST', '/volume/v3/volumes', { volume: { size: 1, name: 'data' } })).body;
    const attached = await compute('POST', `/servers/${id}/os-volume_attachments`, {
      volumeAttachment: { volumeId: volume.id },
    });
    expect(attached.status).toBe(200);
    const status = async () => (await service('GET', `/volume/v3/volumes/${volume.id}`)).body.volume.status;
    await eventually(async () => expect(await status()).toBe('in-use'), { interval: 100 });

    const snapshot = await compute('POST', `/servers/${id}/action`, { createImage: { name: 'copy' } });
    expect([snapshot.status, snapshot.body]).toMatchObject([202, {}]);
    const image = async () => (await service('GET', `/image/v2/images/${snapshot.body.image_id}`)).body;
    await eventually(async () => expect(await image()).toMatchObject({ status: 'active', instance_uuid: id }), {
      interval: 100,
    });
    await settled(id, 'ACTIVE');

    expect((await compute('DELETE', `/servers/${id}`)).status).toBe(204);
    await eventually(async () => expect([await status(), await ports()]).toEqual(['available', []]), { interval: 100 });
    expect(cloud.unhandled()).toEqual([]);
  });

  it('does not exceed the permissions of a member in other services', async () => {
    const old = (method: string, path: string) =>
      sendRequest(program.url, method, `/v2.1${path}`, { token, version: '2.1' });
    const { security_groups: groups } = (await old('GET', '/os-security-groups')).body;
    const { id, rules } = groups.find(({ name }: { name: string }) => name === 'default');
    expect((await old('DELETE', `/os-security-groups/${id}`)).status).toBe(400);
    expect((await old('GET', `/os-security-groups/${id}`)).body.security_group.rules).toEqual(rules);
    expect(rules.length).toBeGreaterThan(0);
  });

  it('returns 503 when the identity service is unavailable', async () => {
    const other = await startCloud();
    const standalone = await startProgram(
      [
        '--auth',
        'identity',
        '--identity-url',
        other.authUrl.replace(/\/v3\/?$/, ''),
        '--db',
        ':memory:',
        '--log-level',
        'silent',
      ],
      { OS_USERNAME: 'admin', OS_PASSWORD: 'secret', OS_PROJECT_NAME: 'demo' },
    );
    await other.stop();
    expect((await sendRequest(standalone.url, 'GET', '/v2.1/servers', { token })).status).toBe(503);
    expect(await standalone.end('SIGTERM')).toBe(0);
  });
});
