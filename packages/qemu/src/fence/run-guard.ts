import type { FenceAction } from '@apistrata/compute-engine/drivers';
import type { fenceMachines } from './fence-machines.js';

/** The arguments of a fence guard process, which follow the path of its pid file. */
export interface GuardArguments {
  /** The folder that contains the folders of the host's machines. */
  readonly folder: string;
  /** The path of the socket on which the guard listens. */
  readonly socket: string;
  readonly action: FenceAction;
  /** The time at which the guard fences the machines, in milliseconds since the computer booted. */
  readonly at: number;
  readonly withinMs: number;
}

/** A request to a fence guard: postpones the fencing time, or, without `at`, checks that the guard responds. */
export interface GuardRequest {
  readonly at?: number;
}

/**
 * Runs in the fence guard process. Starting at the fencing time, fences all machines, including new ones, until a
 * request sets a later time.
 *
 * The process receives this function as source text, so that the guard works in a bundled package and after an update
 * has replaced the package's files. The function must therefore not reference anything else in this module.
 */
export function runGuard(fence: typeof fenceMachines): void {
  const { existsSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs');
  const { createServer } = process.getBuiltinModule('node:net');
  const { constants, setPriority, uptime } = process.getBuiltinModule('node:os');
  const [pidFile = '', argumentsJson = ''] = process.argv.slice(1);
  const { folder, socket, action, withinMs, ...order }: GuardArguments = JSON.parse(argumentsJson);
  let { at } = order;
  let connections = 0;
  let currentRound: Promise<void> | undefined;

  /** The guard must run even if memory or CPU time is scarce. Only privileged users can request this priority. */
  for (const request of [
    () => setPriority(constants.priority.PRIORITY_HIGHEST),
    () => writeFileSync('/proc/self/oom_score_adj', '-1000'),
  ])
    try {
      request();
    } catch {
      // An unprivileged guard runs with normal priority.
    }

  const report = (message: string) => console.error(`${new Date().toISOString()} ${message}`);
  /** The uptime includes periods in which the computer was suspended. */
  const isDue = () => uptime() * 1000 >= at;

  const fenceOnce = async () => {
    try {
      const { fenced, left: remainingCount } = await fence(folder, action, withinMs);
      if (fenced.length > 0) report(`no heartbeat in time: ${action} was applied to ${fenced.join(' ')}`);
      // No machine is running, and no host process is connected that could start one.
      if (remainingCount === 0 && connections === 0 && isDue()) process.exit();
    } catch (error) {
      report(`${action} failed: ${error}`);
    }
  };

  setInterval(() => {
    if (connections === 0 && !existsSync(folder)) process.exit();
    if (currentRound || !isDue()) return;
    currentRound = fenceOnce().finally(() => {
      currentRound = undefined;
    });
  }, 250);

  const server = createServer((connection) => {
    connections += 1;
    let incompleteLine = '';
    const respond = async (line: string) => {
      const request: GuardRequest = JSON.parse(line);
      if (request.at !== undefined) {
        at = Math.max(at, request.at);
        // After the response, the host process resumes its machines; fencing in progress would pause them again.
        await currentRound;
      }
      connection.write(`${line}\n`);
    };
    connection.setEncoding('utf8').on('data', (data: string) => {
      const lines = (incompleteLine + data).split('\n');
      incompleteLine = lines.pop() ?? '';
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
