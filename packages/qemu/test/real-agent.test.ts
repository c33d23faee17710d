import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { PATIENCE_MS } from '../../../testing/patience.js';
import { askAgent } from '../src/guest/guest-agent.js';
import { missingForAgents } from './guest/build-guest.js';
import { AGENT_IMAGE, ada, QemuCloud } from './qemu-cloud.js';

const missing = missingForAgents();
if (missing)
  console.warn(`\n*** SKIPPED: the distribution's own agent in guests: this machine has no ${missing} ***\n`);

const SECRET = `n"w 's\u00e9cret' $(x)\\`;

/** What stands in for a whole system: the program `chpasswd`, which the agent hands passwords to (`guest/chpasswd.sh`). */
describe.skipIf(missing)("a virtual machine with QEMU's own agent", { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  let id: string;
  beforeAll(async () => {
    cloud = await QemuCloud.open({}, {}, { realAgent: true });
    ({ id } = await cloud.create({ name: 'agent', imageId: AGENT_IMAGE }));
    await cloud.console(id, /GUEST ready/, 150_000);
  }, 240_000);
  afterAll(() => cloud?.close());

  const run = async (command: string) => (await cloud.line(id)).run(command);
  const ask = <T>(question: string) => askAgent<T>(join(cloud.machines, id, 'agent'), question);
  const becomes = (state: 'frozen' | 'thawed') =>
    expect.poll(() => ask('guest-fsfreeze-status'), { timeout: PATIENCE_MS }).toBe(state);

  it('says what it is', async () => {
    const { version } = await eventually(() => ask<{ version: string }>('guest-info'));
    expect(version).toMatch(/^\d+\.\d+/);
    await expect(ask('guest-no-such-thing')).rejects.toMatchObject({ code: 'GUEST_REFUSED' });
  });

  it('takes the password of its administrator from the API', async () => {
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'changePassword', { adminPassword: SECRET }));
    const text = Buffer.from(SECRET).toString('base64');
    const hash = await run(`echo ${text} | base64 -d | mkpasswd -m sha512 -S saltsaltsalt -P 0`);
    expect(hash).toMatch(/^\$6\$saltsaltsalt\$.{86}$/);
    expect(await run('cat /etc/shadow')).toBe(`root:${hash}:19000::::::`);
  });

  it('is copied with its files at rest, and goes on', async () => {
    await run('echo unwritten >/mnt/disk/note');
    const wish = { name: 'copy', metadata: {}, limitMetadata: true };
    // The image requires that they are at rest: this would fail otherwise.
    const imageId = await cloud.engine.servers.act(ada, id, 'createImage', wish);
    await cloud.settled(id);
    await becomes('thawed');
    expect(await run('echo more >>/mnt/disk/note; sync; cat /mnt/disk/note')).toBe('unwritten\nmore');
    const volume = await cloud.engine.embedded.volumes.createVolume(ada.caller, {
      key: randomUUID(),
      sizeGb: 1,
      imageId,
    });
    const request = { volumeId: volume.id, toShelved: false, multiattach: false };
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'attachVolume', request));
    const wait = 'n=0; until [ -b /dev/vdb ]; do n=$((n + 1)); [ $n -lt 240 ] || break; sleep 0.25; done';
    expect(await run(`${wait}; mkdir -p /mnt/c; mount -t ext4 /dev/vdb /mnt/c; cat /mnt/c/note; umount /mnt/c`)).toBe(
      'unwritten',
    );
    expect(await run('dmesg | grep -c "recovery" || true')).toBe('0');
  });

  it('goes on by itself when its time is over, and when the program ends', async () => {
    const server = await cloud.engine.servers.get(ada, id);
    const origin = { action: 'createImage', requestId: 'req-1' };
    const quiesce = (seconds: number, again = false) =>
      cloud.driver.perform({ verb: 'quiesce', seconds, again }, server, new AbortController().signal, origin);
    await quiesce(600);
    await becomes('frozen');
    await quiesce(1, true);
    await becomes('thawed');
    await expect(quiesce(600, true)).rejects.toMatchObject({ code: 'NOT_POSSIBLE' });
    await quiesce(600);
    await cloud.engine.close();
    await becomes('thawed');
    await cloud.begin();
    expect(await run('echo on >>/mnt/disk/note; sync; tail -n1 /mnt/disk/note')).toBe('on');
  });
});
