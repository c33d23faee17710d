import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The modes in which Linux counts CPU time, in the order of `/proc/stat`. Guest time is part of `user` and `nice`. */
const CPU_MODES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const;

/** A mode in which Linux counts CPU time: `user`, `system`, `idle` and others. */
export type CpuMode = (typeof CPU_MODES)[number];

/** The traffic of a network interface since boot. */
export interface InterfaceFigures {
  readonly name: string;
  readonly receivedBytes: number;
  readonly transmittedBytes: number;
}

/** Figures about a computer and all its programs. Figures that the system does not report are undefined. */
export interface ComputerFigures {
  /** The number of online processors. */
  readonly cpus: number | undefined;
  /** CPU time since boot in seconds, summed over all processors. */
  readonly cpuSeconds: Readonly<Record<CpuMode, number>> | undefined;
  /** The average number of runnable tasks in the last 1, 5 and 15 minutes. */
  readonly loadAverages: readonly [number, number, number] | undefined;
  readonly memory: { readonly totalBytes: number; readonly availableBytes: number } | undefined;
  /**
   * The physical network interfaces. Bridges, taps and tunnels are omitted, because they would count the same packets
   * again.
   */
  readonly interfaces: readonly InterfaceFigures[];
}

const BYTES_PER_KIB = 1024;
/** Clock ticks per second in `/proc`, the same on all architectures. */
const TICKS_PER_SECOND = 100;
/**
 * The kernel may decrease a counter slightly. Decreases below this limit are hidden, because they would look like a
 * reboot.
 */
const MIN_VISIBLE_DECREASE_SECONDS = 3;

type CpuFigures = { readonly cpus: number; readonly cpuSeconds: Readonly<Record<CpuMode, number>> };

function parseCpuFigures(stat: string): CpuFigures {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  const seconds = CPU_MODES.map((mode, index) => [mode, (ticks[index] ?? 0) / TICKS_PER_SECOND]);
  return { cpus: stat.match(/^cpu\d+ /gm)?.length ?? 0, cpuSeconds: Object.fromEntries(seconds) };
}

function parseLoadAverages(text: string): readonly [number, number, number] {
  const [one = 0, five = 0, fifteen = 0] = text.split(' ').map(Number);
  return [one, five, fifteen];
}

function parseMemory(text: string): ComputerFigures['memory'] {
  const bytes = (name: string) => Number(new RegExp(`^${name}: *(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * BYTES_PER_KIB;
  return { totalBytes: bytes('MemTotal'), availableBytes: bytes('MemAvailable') };
}

function parseInterfaces(text: string, names: ReadonlySet<string>): readonly InterfaceFigures[] {
  return [...text.matchAll(/^ *(\S+?): *(.*)$/gm)].flatMap(([, name = '', figures = '']) => {
    if (!names.has(name)) return [];
    const values = figures.split(/ +/).map(Number);
    return [{ name, receivedBytes: values[0] ?? 0, transmittedBytes: values[8] ?? 0 }];
  });
}

/**
 * Reads system statistics of this computer from `/proc` and `/sys`, which Linux serves from memory. Concurrent calls share
 * one result. On other systems, `interfaces` is empty, and all other figures are undefined.
 */
export class ComputerReader {
  readonly #root: string;
  #reading: Promise<ComputerFigures> | undefined;
  #cpuSeconds: Readonly<Record<CpuMode, number>> | undefined;

  /** @param root the directory that contains `proc` and `sys` */
  constructor(root = '/') {
    this.#root = root;
  }

  /** Reads all figures. Never rejects. */
  read(): Promise<ComputerFigures> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<ComputerFigures> {
    const [cpu, loadAverages, memory, interfaces] = await Promise.all([
      this.#parseFile('proc/stat', parseCpuFigures),
      this.#parseFile('proc/loadavg', parseLoadAverages),
      this.#parseFile('proc/meminfo', parseMemory),
      this.#interfaces(),
    ]);
    return {
      cpus: cpu?.cpus,
      cpuSeconds: cpu && this.#monotonicSeconds(cpu.cpuSeconds),
      loadAverages,
      memory,
      interfaces,
    };
  }

  async #parseFile<T>(path: string, parse: (text: string) => T): Promise<T | undefined> {
    const text = await readFile(join(this.#root, path), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : parse(text);
  }

  /** Returns the CPU times; a value that decreased slightly since the previous call keeps its previous value. */
  #monotonicSeconds(current: Readonly<Record<CpuMode, number>>): Readonly<Record<CpuMode, number>> {
    const previous = this.#cpuSeconds ?? current;
    const monotonicSeconds = { ...current };
    for (const mode of CPU_MODES)
      if (previous[mode] - current[mode] < MIN_VISIBLE_DECREASE_SECONDS)
        monotonicSeconds[mode] = Math.max(previous[mode], current[mode]);
    this.#cpuSeconds = monotonicSeconds;
    return monotonicSeconds;
  }

  async #interfaces(): Promise<readonly InterfaceFigures[]> {
    const networkDirectory = join(this.#root, 'sys/class/net');
    const names = await readdir(networkDirectory).catch(() => []);
    const deviceFiles = await Promise.all(
      names.map((name) => readdir(join(networkDirectory, name, 'device')).catch(() => undefined)),
    );
    const physicalInterfaceNames = new Set(
      names.filter((_, index) => deviceFiles[index] && !deviceFiles[index].includes('physfn')),
    );
    return (await this.#parseFile('proc/net/dev', (text) => parseInterfaces(text, physicalInterfaceNames))) ?? [];
  }
}
