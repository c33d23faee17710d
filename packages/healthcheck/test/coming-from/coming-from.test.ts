import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freePort } from '../../../../testing/servers.js';
import { requestFrom } from '../serve.js';
import { startServer } from '../start-program.js';

const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
const readme = read('../../README.md');
const JSON_ONLY = { headers: { accept: 'application/json' } };

describe.each(['terminus-old', 'terminus-new', 'lightship-old', 'lightship-new'])('%s.example.mjs', (name) => {
  it('is in the README exactly as this test runs it', () => {
    expect(readme).toContain(`\`\`\`js\n${read(`${name}.example.mjs`)}\`\`\``);
  });
});

describe.each(['old', 'new'])('a terminus app, %s', (age) => {
  it('reports its health, responds to the last request, closes the database and exits with 0', async () => {
    const { child, request, output, ended } = await startServer(`coming-from/terminus-${age}.example.mjs`);
    const health = await request('/healthcheck', JSON_ONLY);
    expect([health.status, JSON.parse(health.body).status]).toEqual([200, 'ok']);
    const last = request('/');
    child.kill('SIGTERM');
    await eventually(async () => expect((await request('/healthcheck', JSON_ONLY)).status).toBe(503));
    expect((await last).body).toBe('Hello');
    expect(await ended).toBe(0);
    expect(output()).toBe('database closed\nbye\n');
  });
});

describe.each(['old', 'new'])('a lightship app, %s', (age) => {
  it('is live and ready, completes the work of its beacon, and exits with 0', async () => {
    const healthPort = await freePort();
    const file = `coming-from/lightship-${age}.example.mjs`;
    const { child, request, output, ended } = await startServer(file, { HEALTH_PORT: String(healthPort) });
    const status = async (path: string) => (await requestFrom('127.0.0.1', healthPort, path)).status;
    await eventually(async () => expect(await status('/ready')).toBe(200));
    expect([await status('/live'), await status('/health')]).toEqual([200, 200]);
    expect((await request('/orders', { method: 'POST' })).status).toBe(202);
    child.kill('SIGTERM');
    await eventually(async () => expect(await status('/health')).toBeGreaterThanOrEqual(500));
    expect(await ended).toBe(0);
    expect(output()).toMatch(/mail sent\n[\s\S]*bye\n/);
  });
});
