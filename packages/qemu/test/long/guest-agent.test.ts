import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DriverWork } from '@apistrata/compute-engine/drivers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONDITION_TIMEOUT_MS } from '../../../../testing/condition-timeout.js';
import { eventually } from '../../../../testing/eventually.js';
import { callAgent } from '../../src/guest/guest-agent.js';
import { missingForAgents, missingForGuests } from '../guest/build-guest.js';
import { AGENT_IMAGE, ada, IMAGE, QemuCloud } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: agents in virtual machines: this machine has no ${missing} ***\n`);
const realAgent = missingForAgents() === undefined;
if (!missing && !realAgent)
  console.warn(
    '\n*** A SMALL AGENT STANDS IN for that of the package qemu-guest-agent, which this machine has not got ***\n',
  );

const SECRET = `n"w 's\u00e9cret' $(x)\\`;

/**
 * The distribution's agent passes passwords to the program `chpasswd`, which is a fake in these guests:
 * `guest/chpasswd.sh`.
 */
describe.skipIf(missing)('a virtual machine with an agent', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  let id: string;
  beforeAll(async () => {
    cloud = await QemuCloud.open({}, {}, { realAgent });
    ({ id } = await cloud.create({ name: 'agent', imageId: AGENT_IMAGE }));
    await cloud.console(id, /GUEST ready/, 150_000);
  }, 240_000);
  afterAll(() => cloud?.close());

  const act = () => cloud.engine.servers;
  const run = async (command: string) => (await cloud.line(id)).run(command);
  const send = <T>(query: string) => callAgent<T>(join(cloud.machines, id, 'agent'), query);
  const becomes = (state: 'frozen' | 'thawed') =>
    expect.poll(() => send('guest-fsfreeze-status'), { timeout: CONDITION_TIMEOUT_MS }).toBe(state);
  const setPassword = (adminPassword: string) => act().act(ada, id, 'changePassword', { adminPassword });
  const copy = async (name: string) => {
    const imageId = await act().act(ada, id, 'createImage', { name, metadata: {}, limitMetadata: true });
    await cloud.engine.idle();
    return imageId;
  };

  it('runs on a computer that reports its load and has cached its image', async () => {
    const [hypervisor] = await cloud.engine.hypervisors.list({ uptime: true });
    expect(hypervisor?.uptime).toMatch(/^ \d\d:\d\d:\d\d up .*load average: \d+\.\d\d, /);
    const { seq } = await cloud.engine.aggregates.create('all');
    await cloud.engine.aggregates.addHost(seq, 'here');
    await cloud.engine.aggregates.cacheImages(ada, seq, [IMAGE]);
    const fetched = join(cloud.directory, 'qemu', 'images', `${IMAGE}.raw`);
    await eventually(() => expect(existsSync(fetched)).toBe(true));
  });

  it.runIf(realAgent)('has the agent of the distribution', async () => {
    const { version } = await eventually(() => send<{ version: string }>('guest-info'));
    expect(version).toMatch(/^\d+\.\d+/);
    await expect(send('guest-no-such-thing')).rejects.toMatchObject({ code: 'GUEST_COMMAND_FAILED' });
  });

  it.runIf(realAgent)('reports its used memory, if it has a balloon driver', async () => {
    const { memoryMb } = (await act().get(ada, id)).flavor;
    const used = async () => (await act().diagnostics(await act().get(ada, id))).memoryUsedMb;
    await expect.poll(used, { timeout: CONDITION_TIMEOUT_MS }).toBeLessThan(memoryMb);
    expect(await used()).toBeGreaterThan(5);
  });

  it('accepts an administrator password from the API', async () => {
    const server = await cloud.done(id, setPassword(SECRET));
    expect(server).toMatchObject({ vmState: 'active', taskState: null });
    const text = Buffer.from(SECRET).toString('base64');
    const hash = await run(`echo ${text} | base64 -d | mkpasswd -m sha512 -S saltsaltsalt -P 0`);
    expect(hash).toMatch(/^\$6\$saltsaltsalt\$.{86}$/);
    expect(await run('cat /etc/shadow')).toBe(`root:${hash}:19000::::::`);
  });

  it('is copied with frozen filesystems, and continues', async () => {
    await run('echo unwritten >/mnt/disk/note');
    // The image requires a freeze, so the copy would fail without one.
    const imageId = await copy('copy');
    await cloud.settled(id);
    await becomes('thawed');
    expect(await run('echo more >>/mnt/disk/note; sync; cat /mnt/disk/note')).toBe('unwritten\nmore');
    const volume = await cloud.engine.embedded.volumes.createVolume(ada.caller, {
      key: randomUUID(),
      sizeGb: 1,
      imageId,
    });
    const request = { volumeId: volume.id, allowShelved: false, multiattach: false };
    await cloud.done(id, act().act(ada, id, 'attachVolume', request));
    const wait = 'n=0; until [ -b /dev/vdb ]; do n=$((n + 1)); [ $n -lt 240 ] || break; sleep 0.25; done';
    expect(await run(`${wait}; mkdir -p /mnt/c; mount -t ext4 /dev/vdb /mnt/c; cat /mnt/c/note; umount /mnt/c`)).toBe(
      'unwritten',
    );
    expect(await run('dmesg | grep -c "recovery" || true')).toBe('0');
  });

  it('is copied without deleted files', async () => {
    const megabytes = 24;
    await run(`dd if=/dev/urandom of=/mnt/disk/large bs=1M count=${megabytes}; sync; rm /mnt/disk/large; sync`);
    const imageId = await copy('trimmed');
    const { sizeBytes } = await cloud.engine.catalogs.images.get(ada.caller, imageId);
    expect(sizeBytes).toBeLessThan((megabytes / 2) * 2 ** 20);
  });

  it('is thawed by the next copy if it was left frozen', async () => {
    await send('guest-fsfreeze-freeze');
    await copy('another');
    await becomes('thawed');
  });

  const perform = async (work: DriverWork) => {
    const origin = { action: 'createImage', requestId: 'req-1' };
    await cloud.driver.perform(work, await act().get(ada, id), new AbortController().signal, origin);
  };
  const quiesce = (by: string, seconds: number, again = false) => perform({ verb: 'quiesce', by, seconds, again });

  it('remains frozen until the last holder releases it', async () => {
    await Promise.all([quiesce('one', 600), quiesce('two', 600)]);
    await becomes('frozen');
    await perform({ verb: 'unquiesce', by: 'one' });
    expect(await send('guest-fsfreeze-status')).toBe('frozen');
    await quiesce('two', 600, true);
    await expect(quiesce('one', 600, true)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    // If a freeze starts during the thaw, the guest is frozen afterwards.
    await Promise.all([perform({ verb: 'unquiesce', by: 'two' }), quiesce('three', 600)]);
    expect(await send('guest-fsfreeze-status')).toBe('frozen');
    await perform({ verb: 'unquiesce', by: 'three' });
    expect(await send('guest-fsfreeze-status')).toBe('thawed');
  });

  it('resumes at its timeout, and when the program exits', async () => {
    await quiesce('one', 600);
    await becomes('frozen');
    await quiesce('one', 1, true);
    await becomes('thawed');
    await expect(quiesce('one', 600, true)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await quiesce('one', 600);
    await cloud.engine.close();
    await becomes('thawed');
    await cloud.begin();
    expect(await run('echo on >>/mnt/disk/note; sync; tail -n1 /mnt/disk/note')).toBe('on');
  });

  it('rejects both operations, and remains unchanged, after the agent has stopped', async () => {
    await run(`killall ${realAgent ? 'qemu-ga' : 'agent.sh'}`);
    await expect(setPassword('later')).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('does not respond'),
    });
    const imageId = await copy('failed');
    expect(await act().get(ada, id)).toMatchObject({ vmState: 'active', taskState: null });
    await expect(cloud.engine.catalogs.images.get(ada.caller, imageId)).rejects.toMatchObject({
      code: 'IMAGE_NOT_FOUND',
    });
  });

  it('rejects passwords for guests whose image does not declare an agent', async () => {
    const plain = await cloud.create({ name: 'plain' });
    await expect(act().act(ada, plain.id, 'changePassword', { adminPassword: 'x' })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('does not declare a guest agent'),
    });
  });
});
