import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundledProgram } from '../../../testing/bundled-program.js';
import { type StartedTestCloudContainer, TestCloudContainer } from '../src/index.js';
import { startContainerEngine, useContainerEngine } from './container-engine.js';

const IMAGE = 'test-cloud:0.1.0';
const main = fileURLToPath(new URL('../../test-cloud/src/cli/main.ts', import.meta.url));

describe('a container of the test cloud', { timeout: 120_000 }, () => {
  let engine: Awaited<ReturnType<typeof startContainerEngine>>;
  let cloud: StartedTestCloudContainer;

  beforeAll(async () => {
    engine = await startContainerEngine(await bundledProgram(main));
    useContainerEngine(engine);
    cloud = await new TestCloudContainer(IMAGE)
      .withOptions('--preset', 'minimal')
      .withOptions('--transient', '0')
      .start();
  }, 120_000);
  beforeEach(() => cloud.reset());
  afterAll(async () => {
    await cloud?.stop();
    await engine?.close();
    vi.unstubAllEnvs();
  });

  const servers = async () => {
    const response = await fetch(`${cloud.url}/compute/v2.1/servers`, {
      headers: { 'X-Auth-Token': await cloud.token({ user: 'ada', project: 'lab' }) },
    });
    return response.status;
  };

  it('has the specified image, port and options', () => {
    expect(engine.containers[0]).toMatchObject({
      Image: IMAGE,
      Cmd: ['--preset', 'minimal', '--transient', '0'],
    });
    expect(engine.containers[0]!.ExposedPorts).toEqual({ '8774/tcp': {} });
  });

  it('returns the environment for clients', async () => {
    const env = await cloud.env({ user: 'ada', project: 'lab' });
    expect(env).toMatchObject({ OS_AUTH_URL: cloud.authUrl, OS_USERNAME: 'ada', OS_PROJECT_NAME: 'lab' });
    expect((await fetch(`${env.OS_AUTH_URL}`)).status).toBe(200);
  });

  it('serves tokens, and has a journal', async () => {
    expect(await servers()).toBe(200);
    expect(await cloud.requests({ service: 'compute' })).toMatchObject([{ method: 'GET', status: 200 }]);
    expect(await cloud.requests({ status: '5xx' })).toEqual([]);
    await fetch(`${cloud.url}/volume/v3/unknown`, { headers: { 'X-Auth-Token': await cloud.token() } });
    expect(await cloud.unhandled()).toMatchObject([{ method: 'GET', count: 1 }]);
  });

  it('applies rules until they are removed', async () => {
    const rule = await cloud.rule({ http: { match: { path: '/compute/v2.1/servers' }, status: 503 } });
    expect([await servers(), await rule.calls()]).toEqual([503, 1]);
    await rule.remove();
    expect(await servers()).toBe(200);
    const hanging = await cloud.rule({ machine: { match: { verb: 'spawn' }, hang: true } });
    await hanging.release();
    expect(await hanging.calls()).toBe(0);
  });

  it('saves and restores its state', async () => {
    const projects = async () => {
      const response = await fetch(`${cloud.authUrl}/projects`, {
        headers: { 'X-Auth-Token': await cloud.token({ roles: ['admin'] }) },
      });
      return ((await response.json()) as { projects: { name: string }[] }).projects.map(({ name }) => name);
    };
    await cloud.save('empty state');
    await cloud.env({ project: 'moon' });
    expect(await projects()).toContain('moon');
    await cloud.restore('empty state');
    expect(await projects()).not.toContain('moon');
  });

  it('advances its clock', async () => {
    const now = async () => Date.parse((await cloud.control<{ now: string }>('GET', '/clock')).now);
    const before = await now();
    await cloud.advance('1h');
    expect((await now()) - before).toBeGreaterThanOrEqual(3_600_000);
  });

  it('waits for background jobs', async () => {
    const headers = { 'X-Auth-Token': await cloud.token(), 'Content-Type': 'application/json' };
    const request = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${cloud.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
      return (await response.json()) as any;
    };
    const [image] = (await request('GET', '/image/v2/images')).images;
    const [flavor] = (await request('GET', '/compute/v2.1/flavors')).flavors;
    const server = { name: 'web', flavorRef: flavor.id, imageRef: image.id };
    const { id } = (await request('POST', '/compute/v2.1/servers', { server })).server;
    await cloud.idle();
    expect((await request('GET', `/compute/v2.1/servers/${id}`)).server.status).toBe('ACTIVE');
  });

  it('reports what the cloud rejects', async () => {
    await expect(cloud.advance('soon')).rejects.toThrow(/POST \/clock: 400 .*soon/);
    await expect(cloud.restore('never')).rejects.toThrow('Unknown state never');
  });

  it.each(['--port', '--host=0.0.0.0'])('cannot have the option %s', (option) => {
    expect(() => new TestCloudContainer(IMAGE).withOptions(option)).toThrow(
      `Option ${option} is not allowed: the container publishes port 8774 of the image.`,
    );
  });
});
