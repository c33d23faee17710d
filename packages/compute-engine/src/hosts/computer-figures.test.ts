import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ComputerReader } from './computer-figures.js';

const root = mkdtempSync(join(tmpdir(), 'apistrata-computer-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const stat = (idle: number, iowait: number) =>
  `cpu  100 20 300 ${idle} ${iowait} 6 7 8 9 10\ncpu0 50 10 150 2 2 3 3 4 4 5\ncpu1 50 10 150 2 2 3 4 4 5 5\nintr 5 6\nctxt 9\n`;

const DEVICES = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  111      10    0    0    0     0          0         0   112       10    0    0    0     0       0          0
  eth0: 1000      10    0    0    0     0          0         0  2000       20    0    0    0     0       0          0
enp3s0: 7777777777777 1    0    0    0     0          0         0     5        1    0    0    0     0       0          0
 vf0.1:    4      10    0    0    0     0          0         0     5       10    0    0    0     0       0          0
   br0:    6      10    0    0    0     0          0         0     7       10    0    0    0     0       0          0
`;

it('reads processors, load, memory and physical interfaces', async () => {
  write('proc/stat', stat(4000, 50));
  write('proc/loadavg', '0.25 1.50 12.00 3/812 4711\n');
  write('proc/meminfo', 'MemTotal:        8000000 kB\nMemFree:          100000 kB\nMemAvailable:    3000000 kB\n');
  write('proc/net/dev', DEVICES);
  for (const name of ['eth0', 'enp3s0', 'vf0.1']) write(`sys/class/net/${name}/device/vendor`, '0x8086');
  // Virtual functions are not counted, because their traffic belongs to guests and there may be many of them.
  write('sys/class/net/vf0.1/device/physfn/vendor', '0x8086');
  for (const name of ['lo', 'br0']) write(`sys/class/net/${name}/mtu`, '1500');
  expect(await new ComputerReader(root).read()).toEqual({
    cpus: 2,
    cpuSeconds: { user: 1, nice: 0.2, system: 3, idle: 40, iowait: 0.5, irq: 0.06, softirq: 0.07, steal: 0.08 },
    loadAverages: [0.25, 1.5, 12],
    memory: { totalBytes: 8_192_000_000, availableBytes: 3_072_000_000 },
    interfaces: [
      { name: 'eth0', receivedBytes: 1000, transmittedBytes: 2000 },
      { name: 'enp3s0', receivedBytes: 7_777_777_777_777, transmittedBytes: 5 },
    ],
  });
});

it('hides small decreases of a CPU time counter, but follows a reset of the counters', async () => {
  const reader = new ComputerReader(root);
  const waited = async (iowait: number) => {
    write('proc/stat', stat(4000, iowait));
    return (await reader.read()).cpuSeconds?.iowait;
  };
  expect([await waited(1000), await waited(950), await waited(1001), await waited(100)]).toEqual([10, 10, 10.01, 1]);
});

it('reports no figures on systems without `/proc` and `/sys`', async () => {
  expect(await new ComputerReader(join(root, 'nowhere')).read()).toEqual({
    cpus: undefined,
    cpuSeconds: undefined,
    loadAverages: undefined,
    memory: undefined,
    interfaces: [],
  });
});

it('shares one reading between concurrent callers', async () => {
  const reader = new ComputerReader(root);
  const first = reader.read();
  expect(reader.read()).toBe(first);
  await first;
  expect(reader.read()).not.toBe(first);
});
