import { fork } from 'node:child_process';
import { join } from 'node:path';

/**
 * Starts a process that reserves quotas on SQLite files under a given Node; see nodes-quota.worker.mjs. `missing` is
 * the error if this Node cannot load better-sqlite3.
 */
export async function quotaProcess(node) {
  const child = fork(join(import.meta.dirname, 'nodes-quota.worker.mjs'), [], { execPath: node, execArgv: [] });
  const next = () =>
    new Promise((resolve, reject) => {
      const ended = (code) => reject(new Error(`the quota process ended with ${code}`));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message);
      });
    });
  const { missing } = await next();
  return {
    missing,
    /** Returns the microseconds of CPU time of one reservation. */
    measure: async (driver, amount) => {
      child.send({ driver, amount });
      return (await next()).microseconds;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.disconnect();
      }),
  };
}
