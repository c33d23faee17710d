import { expect, it } from 'vitest';
import { describeCpu, parseCpuTopology } from './host-cpu.js';

it('describes model, vendor and features of a CPU, and omits features of the hypervisor', () => {
  const properties = {
    family: 26,
    vendor: 'AuthenticAMD',
    'model-id': 'AMD EPYC',
    avx2: true,
    'sse4.1': true,
    avx512f: false,
    'kvm-pv-eoi': true,
    kvmclock: true,
    'hv-time': true,
  };
  expect(describeCpu(properties)).toEqual({
    arch: 'x86_64',
    model: 'AMD EPYC',
    vendor: 'AMD',
    features: ['avx2', 'sse4.1'],
  });
  expect(describeCpu({ vendor: 'GenuineIntel', 'model-id': 'x' }).vendor).toBe('Intel');
  expect(describeCpu({ vendor: 'CentaurHauls', 'model-id': 'x' }).vendor).toBe('CentaurHauls');
});

/** Returns the content of `/proc/cpuinfo` on a computer with the given topology. */
const textOf = (sockets: number, cores: number, threads: number) =>
  Array.from({ length: sockets * cores * threads }, (_, at) =>
    [
      `processor\t: ${at}`,
      `physical id\t: ${at % sockets}`,
      `siblings\t: ${cores * threads}`,
      `cpu cores\t: ${cores}`,
    ].join('\n'),
  ).join('\n\n');

it.each([
  [1, 2, 1, 1, { cells: 1, sockets: 1, cores: 2, threads: 1 }],
  [2, 8, 2, 2, { cells: 2, sockets: 1, cores: 8, threads: 2 }],
  [2, 8, 2, 1, { cells: 1, sockets: 2, cores: 8, threads: 2 }],
  // Several NUMA cells in one socket.
  [1, 16, 2, 4, { cells: 4, sockets: 1, cores: 16, threads: 2 }],
])(
  'reads a topology of %d sockets, %d cores and %d threads in %d cells',
  (sockets, cores, threads, cells, expected) => {
    expect(parseCpuTopology(textOf(sockets, cores, threads), cells, 0)).toEqual(expected);
  },
);

it('counts processors as cores if the computer does not describe its topology', () => {
  expect(parseCpuTopology('processor : 0\n', 1, 4)).toEqual({ cells: 1, sockets: 1, cores: 4, threads: 1 });
});
