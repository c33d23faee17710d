import type { MachineFolder } from '../machine/machine-folder.js';
import { findProcess } from '../machine/machine-process.js';
import { runProgram } from '../programs/run-program.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { boundProcess, forgetGroup } from './cpu-group.js';
import { DedicatedCores } from './dedicated-cores.js';
import type { Tuning } from './tuning.js';

interface Thread {
  readonly 'thread-id': number;
}

/** Has a thread, or all of a process, run on some cores alone. */
async function place(id: number, cores: readonly number[], ...options: readonly string[]): Promise<void> {
  await runProgram('taskset', [...options, '-p', '-c', cores.join(), `${id}`], { runAs: undefined, timeoutMs: 10_000 });
}

/** On which processors of this computer machines run, and how much of them they get. */
export class Processors {
  readonly #cores: DedicatedCores;
  readonly #folders: () => Promise<readonly MachineFolder[]>;

  constructor(folders: () => Promise<readonly MachineFolder[]>) {
    this.#folders = folders;
    this.#cores = new DedicatedCores(folders);
  }

  /** Gives a machine that is there its processors. @throws `NOT_POSSIBLE` where there are not enough */
  async give(serverId: string, folder: MachineFolder, qmp: QmpClient, { dedicated, cpu }: Tuning): Promise<void> {
    const pid = await findProcess(folder);
    if (pid === undefined) return;
    if (cpu) await boundProcess(serverId, pid, cpu);
    if (!dedicated) {
      if (await this.#cores.giveBack(folder)) await this.#share();
      else if (await this.#cores.inUse()) await place(pid, await this.#cores.shared(), '-a');
      return;
    }
    const threads = await qmp.execute<Thread[]>('query-cpus-fast');
    const cores = await this.#cores.take(folder, threads.length);
    await place(pid, cores, '-a');
    for (const [index, { 'thread-id': thread }] of threads.entries())
      await place(thread, cores.slice(index, index + 1));
    await this.#share();
  }

  /** Takes from a machine that has gone what others may have. */
  async takeBack(serverId: string, folder: MachineFolder): Promise<void> {
    await forgetGroup(serverId);
    if (await this.#cores.giveBack(folder)) await this.#share();
  }

  /** Has all machines without cores of their own run on what is left. */
  async #share(): Promise<void> {
    const shared = await this.#cores.shared();
    for (const folder of await this.#folders()) {
      if (await folder.exists('cores')) continue;
      const pid = await findProcess(folder);
      // One that ends meanwhile needs no place.
      if (pid !== undefined) await place(pid, shared, '-a').catch(() => {});
    }
  }
}
