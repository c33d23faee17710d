// QEMU machines: the time from a request to the first line of a guest's output, the driver's share of that time, boots
// and migrations of guests, and host programs with many machines. Where QEMU itself is not measured, qemu-stub.py
// replaces it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { now, serveApi, textOf, until, withFolder } from './qemu-api.mjs';
import { folderOf, openCloud } from './qemu-cloud.mjs';
import { measureGuests } from './qemu-guests.mjs';
import { measureMoves } from './qemu-moves.mjs';
import { measurePrograms } from './qemu-programs.mjs';
import { median } from './samples.mjs';
import { importTypeScript } from './typescript-modules.mjs';

const STUB = join(import.meta.dirname, 'qemu-stub.py');
const FULL = {
  ...{ boots: 9, firstLines: 3, rounds: 5, together: 2, moves: 3 },
  ...{ programs: 3, machines: 200, restMs: 30_000, adopted: 50, restarts: 5 },
};
const QUICK = {
  ...{ boots: 2, firstLines: 1, rounds: 1, together: 1, moves: 2 },
  ...{ programs: 1, machines: 10, restMs: 500, adopted: 10, restarts: 1 },
};
/** Makes the kernel print to the serial console as early as possible. */
const FIRST_LINE = 'console=ttyS0 earlyprintk=ttyS0';

function has(program) {
  try {
    return Boolean(execFileSync(program, ['--version']));
  } catch {
    return false;
  }
}

/**
 * Creates servers sequentially. For each server, passes the time of the request, the time of the first console line,
 * and the machine folder to `read`, and returns the results.
 */
function measureCreations(times, options, read) {
  return withFolder(async (directory) => {
    const api = await serveApi(await openCloud(directory, options));
    const samples = [];
    // The first server downloads the image, and is not counted.
    for (let i = 0; i <= times; i++) {
      const started = now();
      const folder = folderOf(directory, await api.create());
      await until('the guest prints a line', () => textOf(join(folder, 'console.log')).includes('\n'), 2);
      if (i > 0) samples.push(read(started, now(), folder));
      await api.clear();
    }
    await api.close();
    return samples;
  });
}

/** Returns the time that the driver needs: until QEMU starts, and from QEMU's readiness until the guest is resumed. */
function driverTime(started, _seen, folder) {
  const { begun, listening, going } = JSON.parse(textOf(join(folder, 'times.json')));
  return begun * 1000 - started + (going - listening) * 1000;
}

/** Measures real guests, and returns the rows. @param own the driver's share of a creation */
async function measureReal(sizes, own) {
  const { buildGuest, COMMAND_LINE, missingForGuests } = await importTypeScript('packages/qemu/test/guest/build-guest');
  const missing = missingForGuests();
  if (missing) return [{ what: 'guests', unit: `skipped: this machine has no ${missing}` }];
  const { probeAcceleration } = await importTypeScript('packages/qemu/src/programs/acceleration');
  const { acceleration, reason } = await probeAcceleration('qemu-system-x86_64', 'auto', undefined);
  const label = acceleration.toUpperCase();
  return withFolder(async (directory) => {
    const { kernel, ramdisk } = buildGuest(directory);
    const kernelOnly = { acceleration, guest: { kernel, commandLine: FIRST_LINE } };
    const all = await measureCreations(sizes.firstLines, kernelOnly, (started, seen) => seen - started);
    const measured = { ...sizes, acceleration, label, guest: { kernel, ramdisk, commandLine: COMMAND_LINE } };
    return [
      { what: `acceleration of the guests: ${label}${reason ? `. ${reason}` : ''}` },
      { what: "from POST to the guest's first line, in total", ours: all, unit: 'ms' },
      { what: `share of QEMU and the guest (a kernel; ${label})`, ours: all.map((ms) => ms - median(own)), unit: 'ms' },
      ...(await measureGuests(measured)),
      ...(await measureMoves(measured)),
    ];
  });
}

export async function run({ quick }) {
  const sizes = quick ? QUICK : FULL;
  if (!has('python3') || !has('qemu-img'))
    return [{ what: 'machines of QEMU', unit: 'skipped: this machine has no python3 or no qemu-img' }];
  const own = await measureCreations(sizes.boots, { program: STUB }, driverTime);
  return [
    {
      what: 'from POST to a running machine (of a stub): our share',
      ours: own,
      unit: 'ms',
      budget: '<= 150 ms',
    },
    ...(await measureReal(sizes, own)),
    ...(await measurePrograms(sizes)),
  ];
}
