import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { missingForGuests } from './guest/build-guest.js';
import { ada, QemuCloud } from './qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: forwards to virtual machines: this machine has no ${missing} ***\n`);

/** Ports that nobody listens on, one after the other. */
async function freeRange(length: number): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port + length < 65_536 ? port : port - length;
}

/** What somebody who listens at a port of this computer says. */
function told(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(10_000, () => socket.destroy(new Error('nobody says anything')));
    socket.on('data', (data) => {
      text += data;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(text.trim()));
  });
}

describe.skipIf(missing)('a port of this computer', { timeout: 240_000 }, () => {
  const lines: string[] = [];
  let cloud: QemuCloud;
  let first: number;
  beforeAll(async () => {
    first = await freeRange(20);
    const forward = [`${first}-${first + 9}:22`, `web:${first + 10}:80`];
    cloud = await QemuCloud.open({ forward, log: (line) => lines.push(line) });
  });
  afterAll(() => cloud.close());

  const portsOf = (id: string): readonly { hostPort: number; guestPort: number }[] =>
    JSON.parse(readFileSync(join(cloud.machines, id, 'forwards.json'), 'utf8'));

  it('leads to one of a guest: another one for each server, and some by the name of the server', async () => {
    const web = await cloud.create({ name: 'web' });
    const other = await cloud.create({ name: 'other' });
    expect(portsOf(web.id)).toMatchObject([{ guestPort: 22 }, { hostPort: first + 10, guestPort: 80 }]);
    expect(portsOf(other.id)).toMatchObject([{ guestPort: 22 }]);
    const [{ hostPort: toWeb }, { hostPort: toOther }] = [portsOf(web.id)[0]!, portsOf(other.id)[0]!];
    expect(new Set([toWeb, toOther, first + 10]).size).toBe(3);
    expect(lines).toContain(`127.0.0.1:${first + 10} leads to port 80/tcp of web (${web.id})`);

    for (const { id, name } of [web, other]) {
      await cloud.console(id, /GUEST ready/);
      await (await cloud.line(id)).run(`(while :; do echo ${name} | nc -l -p 22; done) >/dev/null 2>&1 &`);
    }
    await vi.waitFor(async () => expect(await told(toWeb)).toBe('web'), { timeout: 30_000, interval: 500 });
    await vi.waitFor(async () => expect(await told(toOther)).toBe('other'), { timeout: 30_000, interval: 500 });

    await cloud.engine.servers.delete(ada, other.id);
    await cloud.engine.idle();
    const before = portsOf(web.id);
    await cloud.done(web.id, cloud.engine.servers.act(ada, web.id, 'rebootHard'));
    expect(portsOf(web.id)).toEqual(before);
  });
});
