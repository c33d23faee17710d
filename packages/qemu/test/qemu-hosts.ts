import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine, type Engine, type EngineOptions, type Preset, type Server } from '@apistrata/compute-engine';
import type { NewServer } from '@apistrata/compute-engine/api';
import { noMachines } from '@apistrata/compute-engine/drivers';
import type { HostOptions as CreateHostOptions } from '@apistrata/compute-engine/hosts';
import { checkDatabase } from '@apistrata/compute-engine/maintenance';
import pg from 'pg';
import { expect } from 'vitest';
import { bundledProgram } from '../../../testing/bundled-program.js';
import { eventually } from '../../../testing/eventually.js';
import { freshDatabase } from '../../../testing/fresh-database.js';
import type { QemuOptions } from '../src/index.js';
import type { Computer } from './bridge/computer.js';
import { buildGuest } from './guest/build-guest.js';
import { GuestLine } from './guest/guest-line.js';
import { processesOf } from './processes-of.js';
import { ada, guestPreset, IMAGE, machineDirectory, NETWORK } from './qemu-cloud.js';

const PROGRAM = join(import.meta.dirname, 'host-process.mjs');
export const admin = { ...ada, isAdmin: true, caller: { ...ada.caller, isAdmin: true, roles: ['admin'] } };
export const BOOT = { timeout: 150_000, interval: 300 };

type MoreOptions = Omit<EngineOptions, 'database' | 'driver' | 'preset'>;

/** Options for a host: the driver's options, the host's own options, and the computer on which it runs. */
export interface HostOptions extends Partial<QemuOptions> {
  readonly link?: Pick<Partial<CreateHostOptions>, 'address' | 'listen' | 'port' | 'serviceDownSeconds' | 'fence'>;
  readonly computer?: Computer;
}

/**
 * Returns a database URL with a Unix socket, which processes in any network namespace can reach, because it is a file.
 */
async function socketUrl(database: string): Promise<string> {
  const client = new pg.Client(database);
  await client.connect();
  const { rows } = await client.query('show unix_socket_directories');
  await client.end();
  return `${database}?host=${rows[0].unix_socket_directories}`;
}

/** An engine without machines, and separate processes on this computer that are QEMU hosts. */
export class QemuHosts {
  readonly directory: string;
  readonly #hosts = new Map<string, ChildProcess>();
  readonly #errorLogs = new Map<string, string>();
  readonly #lines = new Set<GuestLine>();
  /** The URL of the database, which processes in any network namespace can use. */
  readonly database: string;
  readonly engine: Engine;

  private constructor(database: string, directory: string, engine: Engine) {
    this.database = database;
    this.directory = directory;
    this.engine = engine;
  }

  /** Opens the engine, and starts hosts with these names. */
  static open(postgresUrl: string, ...names: readonly string[]): Promise<QemuHosts> {
    return QemuHosts.openWith({}, postgresUrl, ...names);
  }

  static async openWith(options: MoreOptions, postgresUrl: string, ...names: readonly string[]): Promise<QemuHosts> {
    const hosts = await QemuHosts.withoutHosts(postgresUrl, {}, options);
    await Promise.all(names.map((name) => hosts.start(name)));
    return hosts;
  }

  /** Opens the engine. @param more additional content of the engine's preset */
  static async withoutHosts(
    postgresUrl: string,
    more: Partial<Preset> = {},
    options: MoreOptions = {},
  ): Promise<QemuHosts> {
    process.env.APISTRATA_SECRET_KEY ??= randomBytes(32).toString('base64');
    const directory = machineDirectory();
    const database = await freshDatabase(postgresUrl);
    const preset = { ...guestPreset(buildGuest(directory)), hosts: [], ...more };
    const onError = (error: unknown) => console.error(error);
    const engine = await createEngine({ onError, ...options, database, driver: noMachines(), preset });
    return new QemuHosts(await socketUrl(database), directory, engine);
  }

  /** Returns the folder of a server's machine on a host, or of all of its machines. */
  folder(host: string, id = ''): string {
    return join(this.directory, host, 'machines', id);
  }

  async start(name: string, options: HostOptions = {}): Promise<void> {
    const { link, computer, ...driver } = options;
    const main = await bundledProgram(PROGRAM);
    const args = [main, this.database, name, join(this.directory, name), JSON.stringify({ link, driver })];
    const [program, all] = computer?.enter(process.execPath, args) ?? [process.execPath, args];
    const child = spawn(program, all, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#hosts.set(name, child);
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errorLogs.set(name, this.errorLog(name) + text);
      process.stderr.write(text);
    });
    await Promise.race([
      once(child.stdout!, 'data'),
      once(child, 'close').then(([code]) => Promise.reject(new Error(`the host ended by itself, with ${code}`))),
    ]);
  }

  /** Makes a host exit after a number of steps, or immediately after it has sent the named command to QEMU. */
  killAfter(name: string, when: number | string): Promise<void> {
    const child = this.#hosts.get(name);
    return new Promise((resolve) => {
      if (child?.connected) child.send({ when }, () => resolve());
      else resolve();
    });
  }

  lives(name: string): boolean {
    const child = this.#hosts.get(name);
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Returns the errors that a host has logged. */
  errorLog(name: string): string {
    return this.#errorLogs.get(name) ?? '';
  }

  /** Sends a signal to a host program, and returns its process. */
  signal(name: string, signal: 'SIGSTOP' | 'SIGCONT'): ChildProcess {
    const child = this.#hosts.get(name)!;
    child.kill(signal);
    return child;
  }

  kill(name: string): Promise<void> {
    return this.#end(name, 'SIGKILL');
  }

  /** Stops a host program gracefully. */
  stop(name: string): Promise<void> {
    return this.#end(name, 'SIGTERM');
  }

  async #end(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#hosts.get(name)!;
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill(signal);
    await ended;
  }

  see(id: string): Promise<Server> {
    return this.engine.servers.get(admin, id);
  }

  /**
   * Returns what the database check reports about incorrectly counted capacity; undefined if all capacity is correct.
   */
  async miscounted(): Promise<string | undefined> {
    const findings = await checkDatabase(this.database);
    return findings.find(({ what, good }) => what === 'capacity' && !good)?.reported;
  }

  /** Returns the server after its task has ended. Rejects if the server is in the status `ERROR`. */
  async settled(id: string): Promise<Server> {
    return eventually(async () => {
      const server = await this.see(id);
      expect(server.jobId).toBeNull();
      expect(server.fault).toBeNull();
      return server;
    }, BOOT);
  }

  /** Creates a server on that host, and waits until its guest has booted. */
  async booted(host: string, fields: Partial<NewServer> = {}): Promise<Server> {
    const newServer = {
      name: host,
      flavorId: 'small',
      imageId: IMAGE,
      networks: [{ networkId: NETWORK }],
      host,
      ...fields,
    };
    // The engine detects a new host shortly after its start.
    const { servers } = await eventually(() => this.engine.servers.create(admin, newServer), BOOT);
    const server = await this.settled(servers[0]!.id);
    // Read from the file: the API cannot reach hosts in other network namespaces.
    const log = join(this.folder(host, server.id), 'console.log');
    await eventually(() => expect(readFileSync(log, 'utf8')).toMatch(/GUEST ready/), BOOT);
    return server;
  }

  console(server: Server): Promise<string> {
    return this.engine.consoles.output(admin, server);
  }

  /** Returns all numbers that a guest has counted, from its console output. */
  async counted(id: string): Promise<number[]> {
    const output = await this.console(await this.see(id));
    return [...output.matchAll(/^COUNT (\d+)\r?$/gm)].map(([, number]) => Number(number));
  }

  /** Checks that the console output contains each number that a guest has counted once, up to the given one at least. */
  async checkCounted(id: string, last: number): Promise<void> {
    await expect.poll(async () => (await this.counted(id)).length).toBeGreaterThanOrEqual(last);
    const numbers = await this.counted(id);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  }

  /** Opens the serial line of a server, as the console proxy does. */
  async line(id: string): Promise<GuestLine> {
    const address = await this.engine.consoles.open(admin, await this.see(id), 'serial');
    const token = new URL(address).searchParams.get('token')!;
    const line = GuestLine.over(await this.engine.consoles.connect(token));
    this.#lines.add(line);
    return line;
  }

  async close(): Promise<void> {
    for (const line of this.#lines) line.close();
    for (const name of this.#hosts.keys()) await this.kill(name);
    await this.engine.close();
    for (const program of ['node', 'qemu-system', 'qemu-storage-daemon', 'dnsmasq'])
      for (const pid of processesOf(this.directory, program)) process.kill(pid, 'SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}
