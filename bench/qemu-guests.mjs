// Guests in real machines: the time of a boot compared with plain QEMU, and ten guests at once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, lstatSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { now, serveApi, textOf, until, withFolder } from './qemu-api.mjs';
import { folderOf, GUEST_MIB, openCloud } from './qemu-cloud.mjs';
import { interleaved } from './samples.mjs';

/** The unit of start times in `/proc`. */
const TICK_MS = 10;
const TOGETHER = 10;
/** The memory that QEMU needs in addition to the memory of its guest, in MiB. */
const QEMU_MIB = 100;
/** The last line that the guest prints while it boots. */
const READY = 'GUEST ready';

const readConsole = (folder) => textOf(join(folder, 'console.log'));

/** Returns the time at which this computer started. */
function computerStart() {
  // `uptime()` is rounded down, so the smallest of many differences is the most precise one.
  let smallest = Number.POSITIVE_INFINITY;
  for (const end = now() + 3 * TICK_MS; now() < end; ) smallest = Math.min(smallest, now() - uptime() * 1000);
  return smallest;
}

/** Returns the time at which the process of a running machine started. */
function processStart(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return computerStart() + Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]) * TICK_MS;
}

/**
 * Starts a machine, and returns the time from the start of its process until the guest has booted.
 *
 * @param start a function that starts the machine and resolves when the machine's process exists
 */
async function bootTime(folder, start) {
  const earlier = readConsole(folder).length;
  await start();
  await until('the guest has booted', () => readConsole(folder).includes(READY, earlier));
  return now() - processStart(Number(textOf(join(folder, 'pid'))));
}

/** Copies the folder of a stopped machine. Returns a function that boots the copy with QEMU alone. */
function plainMachine(folder, [program, ...args], copy) {
  cpSync(folder, copy, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
  // Without a driver, nothing would resume a machine that starts paused (`-S`).
  const plainArgs = args.filter((arg) => arg !== '-S').map((arg) => arg.replaceAll(folder, copy));
  return async () => {
    let child;
    const ms = await bootTime(copy, async () => {
      // Like the driver's machines, the process has its own session, because the kernel may schedule sessions fairly.
      child = spawn(program, plainArgs, { cwd: copy, stdio: 'ignore', detached: true });
      await once(child, 'spawn');
      await until('QEMU has written its process id', () => Number(textOf(join(copy, 'pid'))) === child.pid);
    });
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    return ms;
  };
}

/** Boots a guest alternately with `os-start` and with plain QEMU, whose arguments are those that the driver uses. */
async function measureBoots(api, directory, rounds) {
  const id = await api.create();
  const folder = folderOf(directory, id);
  const stop = async () => {
    await api.act(id, 'os-stop');
    await until('the server is stopped', async () => (await api.read(id)).status === 'SHUTOFF', 50);
  };
  // The first boot creates the guest's file system, and is not counted.
  await until('the guest has booted', () => readConsole(folder).includes(READY));
  const args = textOf(`/proc/${textOf(join(folder, 'pid')).trim()}/cmdline`)
    .split('\0')
    .slice(0, -1);
  await stop();
  const bootPlain = plainMachine(folder, args, join(directory, 'plain'));
  const samples = await interleaved(
    rounds,
    async () => {
      const ms = await bootTime(folder, () => api.act(id, 'os-start'));
      await stop();
      return ms;
    },
    bootPlain,
  );
  await api.clear();
  return samples;
}

/** Creates guests with concurrent requests. Returns the times until all are ACTIVE, and until all have booted. */
async function measureTogether(api, directory) {
  const started = now();
  const ids = await Promise.all(Array.from({ length: TOGETHER }, () => api.create()));
  let running;
  const countRunning = async () => {
    const servers = await api.list();
    const failed = servers.find(({ status }) => status === 'ERROR');
    if (failed) throw new Error(`${failed.fault?.message}`);
    running = servers.filter(({ status }) => status === 'ACTIVE').length;
    return running === TOGETHER;
  };
  await until('all servers are ACTIVE', countRunning, 50);
  const active = now() - started;
  const isBooted = (id) => readConsole(folderOf(directory, id)).includes(READY);
  await until('all guests have booted', () => ids.every(isBooted), 50);
  const booted = now() - started;
  await countRunning();
  await api.clear();
  return { active, booted, running };
}

/** Returns the memory that is available on this computer, in MiB. */
const availableMib = () => Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) / 1024;

/** Measures guests, and returns the rows. @param label the acceleration */
export function measureGuests({ guest, acceleration, label, rounds, together }) {
  return withFolder(async (directory) => {
    const api = await serveApi(await openCloud(directory, { guest, acceleration }));
    const [ours, baseline] = await measureBoots(api, directory, rounds);
    const rows = [
      { what: `boot of a guest, and with plain QEMU (${label})`, ours, baseline, unit: 'ms', budget: '<= 1.03 x' },
    ];
    const needed = TOGETHER * (GUEST_MIB + QEMU_MIB);
    const what = `${TOGETHER} guests created at once (${label})`;
    if (availableMib() < needed) {
      rows.push({ what, unit: `skipped: this machine has less than ${needed} MiB of available memory` });
    } else {
      const found = [];
      for (let round = 0; round < together; round++) found.push(await measureTogether(api, directory));
      const samples = (name) => found.map((sample) => sample[name]);
      rows.push(
        { what: `${what}: ACTIVE at the same time`, ours: samples('running'), unit: 'guests', budget: '>= 10' },
        { what: `${what}: from the first POST until all are ACTIVE`, ours: samples('active'), unit: 'ms' },
        { what: `${what}: from the first POST until all have booted`, ours: samples('booted'), unit: 'ms' },
      );
    }
    await api.close();
    return rows;
  });
}
