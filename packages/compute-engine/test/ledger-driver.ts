import type { ConsoleEndpoint, Diagnostics, Driver, DriverVerb, DriverWork } from '../src/drivers/index.js';
import type { Server } from '../src/index.js';

type State = 'running' | 'off' | 'paused' | 'suspended' | 'soft-deleted';

/**
 * The states in which each command is allowed, and the resulting state. The command is also allowed in the resulting
 * state.
 */
const moves: Readonly<Partial<Record<DriverVerb, readonly [readonly State[], State]>>> = {
  power_on: [['off'], 'running'],
  power_off: [['running', 'paused', 'suspended'], 'off'],
  pause: [['running'], 'paused'],
  unpause: [['paused'], 'running'],
  suspend: [['running'], 'suspended'],
  resume: [['suspended'], 'running'],
  soft_delete: [['running', 'off', 'paused', 'suspended'], 'soft-deleted'],
  restore: [['soft-deleted'], 'running'],
};

/** Commands that create a machine. */
const makers: readonly DriverVerb[] = ['spawn', 'evacuate', 'unshelve'];
const removers: readonly DriverVerb[] = ['destroy', 'shelve_offload'];
const withoutMachine: readonly DriverVerb[] = ['prepare', 'confirm_migration'];

/** A driver that tracks the states of machines and rejects invalid commands. */
export class LedgerDriver implements Driver {
  readonly name = 'ledger';
  readonly #machines = new Map<string, State>();

  supports(verb: DriverVerb): boolean {
    return verb !== 'crash_dump';
  }

  async perform(work: DriverWork, server: Server, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { verb } = work;
    if (withoutMachine.includes(verb)) return;
    if (makers.includes(verb)) this.#machines.set(server.id, 'running');
    else if (removers.includes(verb)) this.#machines.delete(server.id);
    else this.#change(server, verb);
  }

  #change({ id }: Server, verb: DriverVerb): void {
    const state = this.#machines.get(id);
    if (state === undefined) throw new Error(`cannot ${verb}: machine ${id} does not exist`);
    const [from, to] = moves[verb] ?? [];
    if (to === undefined || state === to) return;
    if (!from!.includes(state)) throw new Error(`machine ${id} is ${state}: it cannot ${verb}`);
    this.#machines.set(id, to);
  }

  async consoleOutput(): Promise<string> {
    return '';
  }

  async diagnostics(): Promise<Diagnostics | null> {
    return null;
  }

  async console(): Promise<ConsoleEndpoint | null> {
    return null;
  }
}
