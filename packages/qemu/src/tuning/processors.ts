import type { MachineFolder } from '../machine/machine-folder.js';
import { findProcess } from '../machine/machine-process.js';
import { runProgram } from '../programs/run-program.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { limitProcess, removeGroup } from './cpu-group.js';
import { DedicatedCores } from './dedicated-cores.js';
import type { Tuning } from './tuning.js';

interface CpuThread {
  readonly 'thread-id': number;
}

/** Pins a thread, or with `-a` all threads of a process, to processor cores. */
async function pinToCores(id: number, cores: readonly number[], ...options: readonly string[]): Promise<void> {
  await runProgram('taskset', [...options, '-p', '-c', cores.join(), `${id}`], { runAs: undefined, timeoutMs: 10_000 });
}

/** Assigns this computer's processor cores and CPU time to machines. */
export class Processors {
  readonly #cores: DedicatedCores;
  readonly #folders: () => Promise<readonly MachineFolder[]>;

  constructor(folders: () => Promise<readonly MachineFolder[]>) {
    this.#folders = folders;
    this.#cores = new DedicatedCores(folders);
  }

  /**
   * Applies a running machine's CPU limits and dedicated cores.
   * @throws QemuError `UNSUPPORTED` if there are too few cores
   */
  async assign(serverId: string, folder: MachineFolder, qmp: QmpClient, { dedicated, cpu }: Tuning): Promise<void> {
    const pid = await findProcess(folder);
    if (pid === undefined) return;
    if (cpu) await limitProcess(serverId, pid, cpu);
    if (!dedicated) {
      if (await this.#cores.release(folder)) await this.#pinSharedMachines();
      else if (await this.#cores.hasDedicatedCores()) await pinToCores(pid, await this.#cores.sharedCores(), '-a');
      return;
    }
    const threads = await qmp.execute<CpuThread[]>('query-cpus-fast');
    const cores = await this.#cores.claim(folder, threads.length);
    await pinToCores(pid, cores, '-a');
    for (const [index, { 'thread-id': thread }] of threads.entries())
      await pinToCores(thread, cores.slice(index, index + 1));
    await this.#pinSharedMachines();
  }

  /** Releases the processor cores of a machine that has ended. */
  async release(serverId: string, folder: MachineFolder): Promise<void> {
    await removeGroup(serverId);
    if (await this.#cores.release(folder)) await this.#pinSharedMachines();
  }

  /** Pins all machines without dedicated cores to the remaining cores. */
  async #pinSharedMachines(): Promise<void> {
    const remainingCores = await this.#cores.sharedCores();
    for (const folder of await this.#folders()) {
      if (await folder.exists('cores')) continue;
      const pid = await findProcess(folder);
      // A machine that ends in the meantime needs no cores.
      if (pid !== undefined) await pinToCores(pid, remainingCores, '-a').catch(() => {});
    }
  }
}
