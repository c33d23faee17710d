import type { FenceAction } from '@apistrata/compute-engine/drivers';
import type { fenceMachines } from './fence-machines.js';

/** The arguments of a guard's process, after the path of its pid file. */
export interface GuardArguments {
  /** The folder that contains the machine folders. */
  readonly folder: string;
  /** The path of the socket on which it listens. */
  readonly socket: string;
  readonly action: FenceAction;
  /** The time at which it acts, in milliseconds since the computer was started. */
  readonly at: number;
  readonly withinMs: number;
}

/** A message to a guard: moves the time at which it acts, or checks that it responds. */
export interface GuardRequest {
  readonly at?: number;
}

/**
 * Runs in the process of a guard: fences the machines at the set time, and also machines that start afterwards, until a
 * later time is set.
 *
 * Passed as source text, so that the process needs no file, even if this package is bundled, and does not load a file that an
 * update has replaced. This function must therefore not reference other names of this module.
 */
export function runGuard(fence: typeof fenceMachines): void {
  const { existsSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs');
  const { createServer } = process.getBuiltinModule('node:net');
  const { constants, setPriority, uptime } = process.getBuiltinModule('node:os');
  const [pidFile = '', text = ''] = process.argv.slice(1);
  const { folder, socket, action, withinMs, ...order }: GuardArguments = JSON.parse(text);
  let { at } = order;
  let connections = 0;
  let round: Promise<void> | undefined;

  /** The guard must run even if memory or CPU time is scarce; only privileged users may request that. */
  for (const request of [
    () => setPriority(constants.priority.PRIORITY_HIGHEST),
    () => writeFileSync('/proc/self/oom_score_adj', '-1000'),
  ])
    try {
      request();
    } catch {
      // Without the privilege, the guard runs like other processes.
    }

  const report = (message: string) => console.error(`${new Date().toISOString()} ${message}`);
  /** This clock also counts the time for which the computer was suspended. */
  const isLate = () => uptime() * 1000 >= at;

  const act = async () => {
    try {
      const { fenced, left } = await fence(folder, action, withinMs);
      if (fenced.length > 0) report(`no heartbeat in time: ${action} was applied to ${fenced.join(' ')}`);
      // No machine runs, and no host process is connected that could start one.
      if (left === 0 && connections === 0 && isLate()) process.exit();
    } catch (error) {
      report(`${action} failed: ${error}`);
    }
  };

  setInterval(() => {
    if (connections === 0 && !existsSync(folder)) process.exit();
    if (round || !isLate()) return;
    round = act().finally(() => {
      round = undefined;
    });
  }, 250);

  const server = createServer((connection) => {
    connections += 1;
    let received = '';
    const respond = async (line: string) => {
      const request: GuardRequest = JSON.parse(line);
      if (request.at !== undefined) {
        at = Math.max(at, request.at);
        // The host process resumes machines afterwards, and a round in progress would pause them again.
        await round;
      }
      connection.write(`${line}\n`);
    };
    connection.setEncoding('utf8').on('data', (data: string) => {
      const lines = (received + data).split('\n');
      received = lines.pop() ?? '';
      for (const line of lines) respond(line).catch((error) => connection.destroy(error));
    });
    connection
      .on('error', () => {})
      .once('close', () => {
        connections -= 1;
      });
  });
  server.listen(socket, () => {
    writeFileSync(`${pidFile}.new`, `${process.pid}`);
    renameSync(`${pidFile}.new`, pidFile);
  });
}
