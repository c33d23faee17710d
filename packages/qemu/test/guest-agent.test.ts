import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { missingForGuests } from './guest/build-guest.js';
import { AGENT_IMAGE, ada, IMAGE, QemuCloud } from './qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: agents in virtual machines: this machine has no ${missing} ***\n`);

const SECRET = `n"w 's\u00e9cret' $(x)\\`;

describe.skipIf(missing)('a virtual machine with an agent', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  let id: string;
  beforeAll(async () => {
    cloud = await QemuCloud.open();
    ({ id } = await cloud.create({ name: 'agent', imageId: AGENT_IMAGE }));
    await cloud.console(id, /GUEST ready/);
  }, 120_000);
  afterAll(() => cloud.close());

  const act = () => cloud.engine.servers;
  const setPassword = (adminPassword: string) => act().act(ada, id, 'changePassword', { adminPassword });
  const copy = async (name: string) => {
    const imageId = await act().act(ada, id, 'createImage', { name, metadata: {}, limitMetadata: true });
    await cloud.engine.idle();
    return imageId;
  };

  it('runs on a computer that tells how busy it is, and has fetched its image', async () => {
    const [hypervisor] = await cloud.engine.hypervisors.list({ uptime: true });
    expect(hypervisor?.uptime).toMatch(/^ \d\d:\d\d:\d\d up .*load average: \d+\.\d\d, /);
    const { seq } = await cloud.engine.aggregates.create('all');
    await cloud.engine.aggregates.addHost(seq, 'here');
    await cloud.engine.aggregates.cacheImages(seq, [IMAGE]);
    const fetched = join(cloud.directory, 'qemu', 'images', `${IMAGE}.raw`);
    await eventually(() => expect(existsSync(fetched)).toBe(true));
  });

  it('takes the password of its administrator from the API', async () => {
    const server = await cloud.done(id, setPassword(SECRET));
    expect(server).toMatchObject({ vmState: 'active', taskState: null });
    const line = await cloud.line(id);
    const text = Buffer.from(SECRET).toString('base64');
    const hash = await line.run(`echo ${text} | base64 -d | mkpasswd -m sha512 -S saltsaltsalt -P 0`);
    expect(hash).toMatch(/^\$6\$saltsaltsalt\$.{86}$/);
    expect(await line.run('cat /etc/shadow')).toBe(`root:${hash}:19000::::::`);
  });

  it('is copied with its files at rest, also those that were on their way to the disk, and goes on', async () => {
    const line = await cloud.line(id);
    await line.run('echo unwritten >/mnt/disk/note');
    const imageId = await copy('copy');
    expect(await line.run('cat /tmp-freezes; echo more >>/mnt/disk/note; cat /mnt/disk/note')).toBe(
      'frozen\nunwritten\nmore',
    );
    const made = await cloud.create({ name: 'copy', imageId });
    await cloud.console(made.id, /GUEST ready/);
    const there = await cloud.line(made.id);
    expect(await there.run('cat /mnt/disk/note; dmesg | grep -c "recovery" || true')).toBe('unwritten\n0');
    await act().delete(ada, made.id);
    await cloud.engine.idle();
  });

  it('is let go on by the next copy where the program died while it was frozen', async () => {
    const { askAgent } = await import('../src/guest/guest-agent.js');
    const path = join(cloud.machines, id, 'agent');
    await askAgent(path, 'guest-fsfreeze-freeze');
    await copy('another');
    expect(await askAgent(path, 'guest-fsfreeze-status')).toBe('thawed');
  });

  it('refuses both, and stays as it is, once the agent has ended', async () => {
    await (await cloud.line(id)).run('killall agent.sh');
    await expect(setPassword('later')).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('does not answer'),
    });
    const imageId = await copy('failed');
    expect(await act().get(ada, id)).toMatchObject({ vmState: 'active', taskState: null });
    await expect(cloud.engine.catalogs.images.get(ada.caller, imageId)).rejects.toMatchObject({
      code: 'IMAGE_NOT_FOUND',
    });
  });

  it('refuses passwords of guests whose image speaks of no agent', async () => {
    const plain = await cloud.create({ name: 'plain' });
    await expect(act().act(ada, plain.id, 'changePassword', { adminPassword: 'x' })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('does not say that there is an agent'),
    });
  });
});
