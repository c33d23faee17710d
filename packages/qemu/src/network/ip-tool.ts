import { readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import type { ExistingLink } from './desired-links.js';
import type { DeviceNames } from './device-names.js';
import type { ForwardingEntry } from './forwarding-entries.js';
import type { Ipv6Route } from './routed-ipv6.js';

const NAMESPACES_FOLDER = '/run/netns';
/** The file system type of namespace files, as reported by `statfs` (`NSFS_MAGIC` in Linux). */
const NAMESPACE_FILE_TYPE = 0x6e73_6673;
const RUN_OPTIONS: ProgramOptions = { runAs: undefined, timeoutMs: 60_000 };

/** A network device with its addresses in the output of `ip`. */
export interface LinkAddresses {
  readonly ifname: string;
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string }[];
}

interface PacketCounters {
  readonly bytes: number;
  readonly packets: number;
  readonly errors: number;
  readonly dropped: number;
}

/** The traffic counters of a network device. */
export interface TrafficCounters {
  readonly rx: PacketCounters;
  readonly tx: PacketCounters;
}

/** Runs the program `ip`, which manages network devices, addresses, routes and namespaces. */
export class IpTool {
  readonly #program: string;
  readonly #names: DeviceNames;
  #pendingCounters: Promise<ReadonlyMap<string, TrafficCounters>> | undefined;

  constructor(program: string, names: DeviceNames) {
    this.#program = program;
    this.#names = names;
  }

  /** Executes `ip` commands in a network namespace; default: this process's namespace. Does not use a shell. */
  async batch(commands: readonly string[], namespace?: string): Promise<void> {
    await this.#batch(namespace === undefined ? [] : ['-netns', namespace], commands);
  }

  /** Executes `ip` commands in this process's namespace with the option `-6`, which commands without addresses need. */
  async batchIpv6(commands: readonly string[]): Promise<void> {
    await this.#batch(['-6'], commands);
  }

  async #batch(options: readonly string[], commands: readonly string[]): Promise<void> {
    if (commands.length === 0) return;
    await runProgram(this.#program, [...options, '-batch', '-'], { ...RUN_OPTIONS, input: `${commands.join('\n')}\n` });
  }

  /** Returns this host's network devices in the process's namespace. */
  async links(): Promise<readonly ExistingLink[]> {
    const all: readonly ExistingLink[] = JSON.parse(
      await runProgram(this.#program, ['-json', '-details', 'link', 'show'], RUN_OPTIONS),
    );
    return all.filter(({ ifname }) => this.#names.isManaged(ifname));
  }

  /** Returns the traffic counters of this host's network devices, by name. Concurrent callers share one command. */
  counters(): Promise<ReadonlyMap<string, TrafficCounters>> {
    this.#pendingCounters ??= this.#readCounters().finally(() => {
      this.#pendingCounters = undefined;
    });
    return this.#pendingCounters;
  }

  async #readCounters(): Promise<ReadonlyMap<string, TrafficCounters>> {
    const output = await runProgram(this.#program, ['-json', '-statistics', 'link', 'show'], RUN_OPTIONS);
    const all: readonly { ifname: string; stats64: TrafficCounters }[] = JSON.parse(output);
    return new Map(
      all.filter(({ ifname }) => this.#names.isManaged(ifname)).map(({ ifname, stats64 }) => [ifname, stats64]),
    );
  }

  async addresses(namespace?: string): Promise<readonly LinkAddresses[]> {
    const namespaceArgs = namespace === undefined ? [] : ['-netns', namespace];
    const all: readonly LinkAddresses[] = JSON.parse(
      (await runProgram(this.#program, [...namespaceArgs, '-json', 'address', 'show'], RUN_OPTIONS)) || '[]',
    );
    return all.filter(({ ifname }) => this.#names.isManaged(ifname));
  }

  /** Returns the IPv4 routes through this host's network devices. */
  async routes(): Promise<readonly { readonly dst: string; readonly dev: string }[]> {
    const routeOutput = await runProgram(this.#program, ['-json', '-4', 'route', 'show'], RUN_OPTIONS);
    const all: readonly { dst: string; dev?: string }[] = JSON.parse(routeOutput || '[]');
    return all.flatMap(({ dst, dev = '' }) => (this.#names.isManaged(dev) ? [{ dst, dev }] : []));
  }

  /** Returns this computer's IPv6 routes. @param selector arguments of `ip route show`, such as `table all` */
  async ipv6Routes(...selector: readonly string[]): Promise<readonly Ipv6Route[]> {
    return JSON.parse(
      (await runProgram(this.#program, ['-json', '-6', 'route', 'show', ...selector], RUN_OPTIONS)) || '[]',
    );
  }

  /** Returns the priorities of the IPv6 routing rules; none if the kernel does not support several routing tables. */
  async ipv6RulePriorities(): Promise<readonly number[]> {
    const ruleOutput = await runProgram(this.#program, ['-json', '-6', 'rule', 'show'], RUN_OPTIONS).catch(() => '');
    const all: readonly { readonly priority: number }[] = JSON.parse(ruleOutput || '[]');
    return all.map(({ priority }) => priority);
  }

  /** Returns this host's network namespaces. Removes leftover namespace files that no longer refer to a namespace. */
  async namespaces(): Promise<readonly string[]> {
    const all = (await readdir(NAMESPACES_FOLDER).catch(() => [])).filter((name) => this.#names.isManaged(name));
    const existingNames: string[] = [];
    for (const name of all) {
      const path = join(NAMESPACES_FOLDER, name);
      if ((await statfs(path)).type === NAMESPACE_FILE_TYPE) existingNames.push(name);
      else await rm(path);
    }
    return existingNames;
  }

  /** Returns the forwarding entries of this host's tunnels. @param program the path of `bridge` */
  async forwardingEntries(program: string): Promise<readonly ForwardingEntry[]> {
    const output = await runProgram(program, ['-json', 'fdb', 'show'], RUN_OPTIONS);
    const all: readonly ForwardingEntry[] = JSON.parse(output || '[]');
    return all.filter(({ ifname }) => this.#names.isManaged(ifname));
  }

  /** Executes `bridge` commands that change the forwarding entries of tunnels. */
  async changeForwarding(program: string, commands: readonly string[]): Promise<void> {
    if (commands.length === 0) return;
    await runProgram(program, ['-batch', '-'], { ...RUN_OPTIONS, input: `${commands.join('\n')}\n` });
  }

  /** Returns the command and the arguments that run a program in a network namespace. */
  namespaceCommand(namespace: string, program: string, args: readonly string[]): readonly [string, readonly string[]] {
    return [this.#program, ['netns', 'exec', namespace, program, ...args]];
  }

  async runInNamespace(namespace: string, program: string, args: readonly string[], input?: string): Promise<string> {
    const [first, rest] = this.namespaceCommand(namespace, program, args);
    return runProgram(first, rest, { ...RUN_OPTIONS, input });
  }
}
