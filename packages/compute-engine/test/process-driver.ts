import { type ChildProcess, spawn } from 'node:child_process';
import type { Server } from '@apistrata/compute-engine';
import type { ConsoleEndpoint, Diagnostics, Driver, DriverVerb, DriverWork } from '@apistrata/compute-engine/drivers';

/** Verbs without an effect on these machines. */
const ignored = [
  'prepare',
  'inject_network_info',
  'confirm_migration',
  'live_migration_queue',
  'live_migration_prepare',
  'live_migration_run',
  'live_migration_finish',
  'live_migration_abort',
  'live_migration_force_complete',
  'migrate_disk',
] as const satisfies readonly DriverVerb[];

const starts = ['spawn', 'power_on', 'resume', 'unrescue', 'restore', 'unshelve', 'evacuate', 'revert_migration'];
const stops = ['destroy', 'leave', 'power_off', 'suspend', 'soft_delete', 'shelve_offload'];
const restarts = ['reboot', 'rescue', 'rebuild'];

/** A driver whose machines are idle processes on this computer. */
export class ProcessDriver implements Driver {
  readonly name = 'processes';
  readonly #machines = new Map<string, ChildProcess>();

  supports(verb: DriverVerb): boolean {
    return [...ignored, ...starts, ...stops, ...restarts, 'pause', 'unpause', 'finish_migration'].includes(verb);
  }

  async perform(work: DriverWork, { id }: Server, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (stops.includes(work.verb) || restarts.includes(work.verb)) await this.#stop(id);
    if (starts.includes(work.verb) || restarts.includes(work.verb)) await this.#start(id);
    if (work.verb === 'finish_migration') await (work.powerOn ? this.#start(id) : this.#stop(id));
    if (work.verb === 'pause') this.#running(id).kill('SIGSTOP');
    if (work.verb === 'unpause') this.#running(id).kill('SIGCONT');
  }

  async #start(id: string): Promise<void> {
    if (this.#machines.has(id)) return;
    const machine = spawn('sleep', ['infinity'], { stdio: 'ignore' });
    this.#machines.set(id, machine);
    machine.once('exit', () => {
      if (this.#machines.get(id) === machine) this.#machines.delete(id);
    });
    await new Promise((resolve, reject) => machine.once('spawn', resolve).once('error', reject));
  }

  async #stop(id: string): Promise<void> {
    const machine = this.#machines.get(id);
    if (!machine) return;
    const exited = new Promise((resolve) => machine.once('exit', resolve));
    machine.kill('SIGKILL');
    await exited;
  }

  #running(id: string): ChildProcess {
    const machine = this.#machines.get(id);
    if (!machine) throw new Error(`machine ${id} is not running`);
    return machine;
  }

  async consoleOutput({ id }: Server): Promise<string> {
    return `process ${this.#machines.get(id)?.pid ?? 'none'}\n`;
  }

  async diagnostics(): Promise<Diagnostics | null> {
    return null;
  }

  async console(): Promise<ConsoleEndpoint | null> {
    return null;
  }

  async close(): Promise<void> {
    for (const id of this.#machines.keys()) await this.#stop(id);
  }
}
