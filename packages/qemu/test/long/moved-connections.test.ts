import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { addressOf, GuestsOfHosts, ping } from '../bridge/host-guests.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { type ComputerName, TwoComputers } from '../bridge/two-computers.js';
import { missingForGuests } from '../guest/build-guest.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? missingForBridges() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: connections of guests that move: this machine has no ${missing} ***\n`);

/** The number of migrations between the two hosts. Set a higher number to search for rare failures. */
const MOVES = Number(process.env.MOVES ?? 2);

/** Continuously writes to memory, and checks that the memory contains what was last written. */
const WRITER = [
  'for (n = 1; ; n++) { for (i = 0; i < 200; i++) { if (a[i] != n - 1) {',
  'print "number " i " is " a[i] " in round " n >"/lost"; exit } a[i] = n }',
  'if (n % 50 == 0) { print n >"/round"; close("/round") } }',
].join(' ');

describe.skipIf(missing)('connections of migrated guests', { timeout: 300_000 + MOVES * 60_000 }, () => {
  let computers: TwoComputers;
  let hosts: QemuHosts;
  let guests: GuestsOfHosts;
  let first: Server;
  let second: Server;

  beforeAll(async () => {
    computers = await TwoComputers.open();
    hosts = await QemuHosts.withoutHosts(postgresUrl);
    guests = new GuestsOfHosts(hosts);
    const start = (name: ComputerName) =>
      hosts.start(name, {
        networkMode: 'bridge',
        computer: computers[name],
        link: { address: computers.addresses[name] },
      });
    await Promise.all([start('h1'), start('h2')]);
    first = await hosts.booted('h1');
    second = await hosts.booted('h2');
  }, 300_000);
  afterAll(async () => {
    guests?.close();
    await hosts?.close();
    computers?.close();
  }, 60_000);

  const move = async ({ id }: Server, host: ComputerName) => {
    await hosts.engine.servers.act(admin, id, 'os-migrateLive', { host, checkedFirst: true });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host });
  };

  it('stay open, and lose no byte', async () => {
    const there = await guests.line(second.id);
    // `nc` closes the connection at the end of its input, so the input must not end.
    await there.run('sleep 100000 | nc -l -p 5000 >/heard 2>/dev/null &');
    // The port 5000, as the kernel formats it.
    await expect.poll(() => there.run('cat /proc/net/tcp /proc/net/tcp6'), BOOT).toContain(':1388 ');
    await guests.becomes(true, first, ping(addressOf(second)));
    const numbers = '(n=0; while :; do n=$((n + 1)); echo $n; sleep 0.2; done)';
    await (await guests.line(first.id)).run(`${numbers} | nc ${addressOf(second)} 5000 &`);
    const received = async () => Number(await there.run('tail -n 1 /heard 2>/dev/null || echo 0'));
    await expect.poll(received, BOOT).toBeGreaterThan(5);
    for (let n = 1; n <= MOVES; n++) {
      await move(first, n % 2 === 1 ? 'h2' : 'h1');
      const before = await received();
      await expect.poll(received, BOOT).toBeGreaterThan(before + 10);
      // Each line contains its line number: no line was lost or duplicated.
      expect(await there.run(`sed '$d' /heard | awk '$1 != NR' | wc -l`)).toBe('0');
    }
  });

  it('stay open when the guest returns before the source host has removed its machine', async () => {
    for (let n = 1; n <= MOVES; n++) await move(first, n % 2 === 1 ? 'h2' : 'h1');
    await guests.becomes(true, first, ping(addressOf(second)));
  });

  it('belong to guests whose memory contains everything written during the move', async () => {
    const line = () => guests.line(second.id);
    // No other process should run in the guest, because a context switch clears the processor's cache of page
    // translations.
    await (await line()).run(`awk 'BEGIN { ${WRITER} }' & until killall -STOP sleep 2>/dev/null; do :; done`);
    const round = async () => Number(await (await line()).run('cat /round 2>/dev/null || echo 0'));
    for (let n = 1; n <= MOVES; n++) {
      await expect.poll(round, BOOT).toBeGreaterThan(0);
      await move(second, n % 2 === 1 ? 'h1' : 'h2');
      const before = await round();
      await expect.poll(round, BOOT).toBeGreaterThan(before);
      expect(await (await line()).run('cat /lost 2>/dev/null || true')).toBe('');
    }
  });
});
