import childProcess from 'node:child_process';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

/** Matches QEMU commands that change nothing. */
const QUERY = /"execute":"(query-|qmp_capabilities|qom-list)/;

let executed = 0;
let last = Number.POSITIVE_INFINITY;

let lastCommand = '';

/** Kills the process after the given number of steps (0: immediately), or when it sends the given command to QEMU. */
export function killAfter(when) {
  [executed, last, lastCommand] = typeof when === 'number' ? [0, when, ''] : [0, Number.POSITIVE_INFINITY, when];
  if (when === 0) process.kill(process.pid, 'SIGKILL');
}

function step() {
  executed += 1;
  if (executed >= last) process.kill(process.pid, 'SIGKILL');
}

/** Counts every call of a function as a step when the call returns. */
function counted(module, name, counts = () => true) {
  const original = module[name];
  module[name] = function (...args) {
    const result = original.apply(this, args);
    if (counts(...args)) step();
    return result;
  };
}

// Steps are program starts, renamed files, and commands to QEMU. Packages that are imported later use these functions
// instead of Node's.
for (const name of ['spawn', 'execFile']) counted(childProcess, name);
for (const name of ['rename', 'link']) counted(promises, name);
syncBuiltinESMExports();
counted(Socket.prototype, 'write', (text) => {
  if (typeof text !== 'string' || !text.startsWith('{"execute":')) return false;
  if (lastCommand !== '' && text.startsWith(`{"execute":"${lastCommand}"`)) last = 0;
  return last === 0 || !QUERY.test(text);
});
