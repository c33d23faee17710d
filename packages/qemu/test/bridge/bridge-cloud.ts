import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Engine, Server } from '@apistrata/compute-engine';
import { bundledProgram } from '../../../../testing/bundled-program.js';
import { eventually } from '../../../../testing/eventually.js';
import { buildGuest } from '../guest/build-guest.js';
import { GuestLine } from '../guest/guest-line.js';
import { processesOf } from '../processes-of.js';
import { ada, guestPreset, IMAGE, KERNEL, machineDirectory, RAMDISK } from '../qemu-cloud.js';
import { Computer } from './computer.js';

export const OTHER = '77777777-7777-4777-8777-777777777777';
export const OTHER_SUBNET = '88888888-8888-4888-8888-888888888888';
export const OUTSIDE = '99999999-9999-4999-8999-999999999999';

const PROGRAM = join(import.meta.dirname, 'program.mjs');

type Method<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;

/** A cloud in a separate network namespace, so that this computer's own network does not change. */
export class BridgeCloud {
  readonly directory = machineDirectory();
  readonly #guest = buildGuest(this.directory);
  #computer!: Computer;
  #providerNetworks: Readonly<Record<string, string>> = {};
  readonly #lines = new Map<string, GuestLine>();
  #program: ChildProcess | undefined;
  #responses: AsyncIterator<string> | undefined;
  #reader: Interface | undefined;
  #previous: Promise<unknown> = Promise.resolve();

  /**
   * @param providerNetworks bridges of the simulated computer, by physical network name
   * @param prepare creates these bridges
   */
  async open(
    providerNetworks: Readonly<Record<string, string>> = {},
    prepare: (computer: Computer) => void = () => {},
  ): Promise<this> {
    this.#computer = await Computer.open();
    this.#providerNetworks = providerNetworks;
    prepare(this.#computer);
    await this.begin();
    return this;
  }

  /** The simulated computer. */
  get computer(): Computer {
    return this.#computer;
  }

  async begin(): Promise<void> {
    const preset = guestPreset(this.#guest);
    const files: Readonly<Record<string, string>> = { [KERNEL]: this.#guest.kernel, [RAMDISK]: this.#guest.ramdisk };
    const presetWithFiles = {
      ...preset,
      images: preset.images?.map(({ content: _, ...image }) => ({ ...image, file: files[image.id] })),
      networks: [
        ...(preset.networks ?? []),
        {
          id: OTHER,
          name: 'other',
          projectId: ada.caller.projectId,
          mtu: 1400,
          subnets: [{ id: OTHER_SUBNET, cidr: '10.1.0.0/24' }],
        },
        { id: OUTSIDE, name: 'outside', external: true, subnets: [{ cidr: '203.0.113.0/24' }] },
      ],
    };
    const [enter, args] = this.#computer.enter(process.execPath, [
      await bundledProgram(PROGRAM),
      JSON.stringify({ directory: this.directory, preset: presetWithFiles, providerNetworks: this.#providerNetworks }),
    ]);
    this.#program = spawn(enter, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#reader = createInterface({ input: this.#program.stdout! });
    this.#responses = this.#reader[Symbol.asyncIterator]();
    await this.#nextResponse();
  }

  async #nextResponse(): Promise<unknown> {
    const { value, done } = await this.#responses!.next();
    if (done) throw new Error('the program has ended');
    const { value: response, error } = JSON.parse(value);
    if (error) throw new Error(error);
    return response;
  }

  /** Calls a method of the engine in the program's process. */
  call<Service extends keyof Engine, Name extends keyof Engine[Service]>(
    service: Service,
    name: Name,
  ): Method<Engine[Service][Name]> {
    return this.#calling([service as string, name as string]) as Method<Engine[Service][Name]>;
  }

  /** Calls an operation of the embedded network service. */
  network<Name extends keyof Engine['embedded']['networks']>(name: Name): Method<Engine['embedded']['networks'][Name]> {
    return this.#calling(['embedded', 'networks', name as string]) as Method<Engine['embedded']['networks'][Name]>;
  }

  #calling(path: readonly string[]) {
    return (...args: readonly unknown[]) => {
      const responded = this.#previous.then(() => {
        this.#program!.stdin!.write(`${JSON.stringify({ path, args })}\n`);
        return this.#nextResponse();
      });
      this.#previous = responded.catch(() => {});
      return responded;
    };
  }

  act(id: string, action: string, request: object): Promise<unknown> {
    return this.#calling(['servers', 'act'])(ada, id, action, request);
  }

  idle(): Promise<unknown> {
    return this.#calling(['idle'])();
  }

  async create(name: string, networkId: string, flavorId = 'small'): Promise<Server> {
    const newServer = { name, flavorId, imageId: IMAGE, networks: [{ networkId }] };
    const { servers } = await this.call('servers', 'create')(ada, newServer);
    await this.idle();
    const server = await this.call('servers', 'get')(ada, servers[0]!.id);
    if (server.fault) throw new Error(`${server.fault.message} ${server.fault.details}`);
    return server;
  }

  /** Returns the serial line of a guest, after the guest has booted the given number of times. */
  async line({ id }: Pick<Server, 'id'>, boots = 1): Promise<GuestLine> {
    const known = this.#lines.get(id);
    if (known?.isOpen) return known;
    known?.close();
    const log = join(this.directory, 'qemu', 'machines', id, 'console.log');
    await eventually(
      () => {
        const text = readFileSync(log, 'utf8');
        if (text.split('GUEST ready').length <= boots)
          throw new Error(`the guest is not ready:\n${text.slice(-1_000)}`);
      },
      { timeout: 120_000, interval: 300 },
    );
    const line = await GuestLine.open(join(this.directory, 'qemu', 'machines', id, 'serial'));
    this.#lines.set(id, line);
    return line;
  }

  /** Runs a command in a guest, and returns whether it succeeds. */
  async succeeds(server: Pick<Server, 'id'>, command: string): Promise<boolean> {
    return (await (await this.line(server)).run(`${command} >/dev/null 2>&1 && echo yes || echo no`)) === 'yes';
  }

  async kill(): Promise<void> {
    const ended = once(this.#program!, 'exit');
    // `nsenter` has been replaced by the program, so the signal reaches the program itself.
    this.#program!.kill('SIGKILL');
    await ended;
    this.#reader!.close();
    this.#previous = Promise.resolve();
  }

  async close(): Promise<void> {
    for (const line of this.#lines.values()) line.close();
    if (this.#program && this.#program.exitCode === null && this.#program.signalCode === null) await this.kill();
    for (const name of ['qemu-system', 'dnsmasq'])
      for (const pid of processesOf(this.directory, name)) process.kill(pid, 'SIGKILL');
    this.#computer?.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
