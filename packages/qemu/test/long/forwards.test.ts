import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { dataFrom, freeRange } from '../forwarded-port.js';
import { missingForGuests } from '../guest/build-guest.js';
import { ada, QemuCloud } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: forwards to virtual machines: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('a forwarded port of this computer', { timeout: 240_000 }, () => {
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

  it('forwards to guest ports: a different host port for each server, and some by server name', async () => {
    const web = await cloud.create({ name: 'web' });
    const other = await cloud.create({ name: 'other' });
    expect(portsOf(web.id)).toMatchObject([{ guestPort: 22 }, { hostPort: first + 10, guestPort: 80 }]);
    expect(portsOf(other.id)).toMatchObject([{ guestPort: 22 }]);
    const [{ hostPort: toWeb }, { hostPort: toOther }] = [portsOf(web.id)[0]!, portsOf(other.id)[0]!];
    expect(new Set([toWeb, toOther, first + 10]).size).toBe(3);
    expect(lines).toContain(`127.0.0.1:${first + 10} forwards to port 80/tcp of web (${web.id})`);

    for (const { id, name } of [web, other]) {
      await cloud.console(id, /GUEST ready/);
      await (await cloud.line(id)).run(`(while :; do echo ${name} | nc -l -p 22; done) >/dev/null 2>&1 &`);
    }
    await eventually(async () => expect(await dataFrom(toWeb)).toBe('web'), { interval: 500 });
    await eventually(async () => expect(await dataFrom(toOther)).toBe('other'), { interval: 500 });

    await cloud.engine.servers.delete(ada, other.id);
    await cloud.engine.idle();
    const before = portsOf(web.id);
    await cloud.done(web.id, cloud.engine.servers.act(ada, web.id, 'rebootHard'));
    expect(portsOf(web.id)).toEqual(before);
  });
});
