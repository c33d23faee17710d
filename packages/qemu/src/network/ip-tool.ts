import { readdir } from 'node:fs/promises';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import type { Link } from './desired-links.js';
import type { DeviceNames } from './device-names.js';
import type { ForwardingEntry } from './forwarding-entries.js';

const NAMESPACES = '/run/netns';
const OPTIONS: ProgramOptions = { runAs: undefined, timeoutMs: 60_000 };

/** An address that a device has, as `ip` tells it. */
export interface LinkAddresses {
  readonly ifname: string;
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string }[];
}

interface Count {
  readonly bytes: number;
  readonly packets: number;
  readonly errors: number;
  readonly dropped: number;
}

/** What a device has got and sent. */
export interface Traffic {
  readonly rx: Count;
  readonly tx: Count;
}

/** The program `ip`, which knows devices, addresses, routes and namespaces. */
export class IpTool {
  readonly #program: string;
  readonly #names: DeviceNames;

  constructor(program: string, names: DeviceNames) {
    this.#program = program;
    this.#names = names;
  }

  /** Does these commands, in this namespace or in that of this process. Nothing is asked of a shell. */
  async batch(commands: readonly string[], namespace?: string): Promise<void> {
    if (commands.length === 0) return;
    const where = namespace === undefined ? [] : ['-netns', namespace];
    await runProgram(this.#program, [...where, '-batch', '-'], { ...OPTIONS, input: `${commands.join('\n')}\n` });
  }

  /** This program's devices in the namespace of this process. */
  async links(): Promise<readonly Link[]> {
    const all: readonly Link[] = JSON.parse(
      await runProgram(this.#program, ['-json', '-details', 'link', 'show'], OPTIONS),
    );
    return all.filter(({ ifname }) => this.#names.isOurs(ifname));
  }

  /** What has gone over this program's devices, by their name. */
  async counters(): Promise<ReadonlyMap<string, Traffic>> {
    const told = await runProgram(this.#program, ['-json', '-statistics', 'link', 'show'], OPTIONS);
    const all: readonly { ifname: string; stats64: Traffic }[] = JSON.parse(told);
    return new Map(
      all.filter(({ ifname }) => this.#names.isOurs(ifname)).map(({ ifname, stats64 }) => [ifname, stats64]),
    );
  }

  async addresses(namespace?: string): Promise<readonly LinkAddresses[]> {
    const where = namespace === undefined ? [] : ['-netns', namespace];
    const all: readonly LinkAddresses[] = JSON.parse(
      (await runProgram(this.#program, [...where, '-json', 'address', 'show'], OPTIONS)) || '[]',
    );
    return all.filter(({ ifname }) => this.#names.isOurs(ifname));
  }

  /** Routes to single addresses outside by this program's devices, with their device. */
  async routes(): Promise<readonly { readonly dst: string; readonly dev: string }[]> {
    const told = await runProgram(this.#program, ['-json', '-4', 'route', 'show'], OPTIONS);
    const all: readonly { dst: string; dev?: string }[] = JSON.parse(told || '[]');
    return all.flatMap(({ dst, dev = '' }) => (this.#names.isOurs(dev) ? [{ dst, dev }] : []));
  }

  /** This program's namespaces. */
  async namespaces(): Promise<readonly string[]> {
    const all = await readdir(NAMESPACES).catch(() => []);
    return all.filter((name) => this.#names.isOurs(name));
  }

  /** Where this program's tunnels send frames. @param program that tells it: `bridge` */
  async forwarding(program: string): Promise<readonly ForwardingEntry[]> {
    const told = await runProgram(program, ['-json', 'fdb', 'show'], OPTIONS);
    const all: readonly ForwardingEntry[] = JSON.parse(told || '[]');
    return all.filter(({ ifname }) => this.#names.isOurs(ifname));
  }

  /** Has tunnels send frames elsewhere. */
  async forward(program: string, commands: readonly string[]): Promise<void> {
    if (commands.length === 0) return;
    await runProgram(program, ['-batch', '-'], { ...OPTIONS, input: `${commands.join('\n')}\n` });
  }

  /** Arguments that run a program in a namespace. */
  within(namespace: string, program: string, args: readonly string[]): readonly [string, readonly string[]] {
    return [this.#program, ['netns', 'exec', namespace, program, ...args]];
  }

  async run(namespace: string, program: string, args: readonly string[], input?: string): Promise<string> {
    const [first, rest] = this.within(namespace, program, args);
    return runProgram(first, rest, { ...OPTIONS, input });
  }
}
