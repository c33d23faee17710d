import type { FenceAction } from '@apistrata/compute-engine/drivers';

/** The result of fencing a host's machines. */
export interface FencingResult {
  /** The ids of the servers whose machines were running. */
  readonly fenced: readonly string[];
  /** The number of machines whose process still exists after fencing. */
  readonly left: number;
}

/**
 * Powers off or pauses all running machines, using only the files in their folders. Kills those that do not respond.
 *
 * The fence guard runs this function from its source text, so it must not reference anything else in this module. Each
 * machine has a control socket that is reserved for fencing, because a suspended host process may occupy the other one.
 *
 * @param folder the folder that contains the machine folders
 */
export async function fenceMachines(folder: string, action: FenceAction, withinMs: number): Promise<FencingResult> {
  const { readdir, readFile, rm, writeFile } = process.getBuiltinModule('node:fs/promises');
  const { connect } = process.getBuiltinModule('node:net');
  const { join } = process.getBuiltinModule('node:path');
  const deadline = performance.now() + withinMs;
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Because process ids are reused, the process's command line must contain the path of the machine's pid file. */
  const findMachine = async (path: string) => {
    const file = join(path, 'pid');
    const pid = Number(await readFile(file, 'utf8').catch(() => ''));
    const commandLine = pid > 0 ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : '';
    return commandLine.split('\0').includes(file) ? pid : undefined;
  };

  /** Runs QMP commands and returns the result of the last one. */
  const executeCommands = (socketPath: string, ...commands: readonly string[]) =>
    new Promise<{ readonly running?: boolean }>((resolve, reject) => {
      const socket = connect(socketPath);
      const timeout = setTimeout(() => socket.destroy(new Error('no response')), withinMs / 4);
      const pendingCommands = ['qmp_capabilities', ...commands];
      let incompleteLine = '';
      const receive = (line: string) => {
        const message = JSON.parse(line);
        if ('event' in message) return;
        if ('error' in message) throw new Error(message.error.desc);
        const command = pendingCommands.shift();
        if (command !== undefined) return void socket.write(`${JSON.stringify({ execute: command })}\n`);
        resolve(message.return);
        socket.destroy();
      };
      socket.setEncoding('utf8').on('data', (data: string) => {
        const lines = (incompleteLine + data).split('\n');
        incompleteLine = lines.pop() ?? '';
        try {
          for (const line of lines) receive(line);
        } catch (error) {
          socket.destroy(error as Error);
        }
      });
      socket.once('error', reject).once('close', () => {
        clearTimeout(timeout);
        reject(new Error('closed'));
      });
    });

  const killMachine = async (path: string) => {
    for (let pid = await findMachine(path); pid !== undefined; pid = await findMachine(path)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
      // A process that waits for storage inside the kernel cannot be killed until the wait ends.
      if (performance.now() > deadline + withinMs) throw new Error(`the process ${pid} did not exit in time`);
      await sleep(20);
    }
    await rm(join(path, 'fenced'), { force: true });
  };

  const fenceMachine = async (id: string): Promise<boolean> => {
    const path = join(folder, id);
    if ((await findMachine(path)) === undefined) return false;
    // Machines started by earlier versions have no control socket for the guard.
    for (const controlSocket of [join(path, 'guard'), join(path, 'qmp')]) {
      try {
        if (action === 'pause') {
          if (!(await executeCommands(controlSocket, 'query-status')).running) return false;
          // The file `fenced` is written before the pause, because the host process resumes only machines that have
          // this file.
          await writeFile(join(path, 'fenced'), '');
        }
        await executeCommands(controlSocket, action === 'pause' ? 'stop' : 'quit');
        if (action === 'pause') return true;
        break;
      } catch {
        // If a control socket does not respond, the next one may.
      }
    }
    // QEMU gets time to exit by itself, so that it can flush its pending writes.
    while (action === 'stop' && performance.now() < deadline && (await findMachine(path)) !== undefined)
      await sleep(20);
    await killMachine(path);
    return true;
  };

  const ids = await readdir(folder);
  const fenced = await Promise.all(ids.map(fenceMachine));
  const remainingProcesses = await Promise.all(ids.map((id) => findMachine(join(folder, id))));
  return {
    fenced: ids.filter((_, index) => fenced[index]),
    left: remainingProcesses.filter((pid) => pid !== undefined).length,
  };
}
