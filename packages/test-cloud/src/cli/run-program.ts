import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** The signals that this process forwards to the program. */
const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a program and returns its exit status or, as shells do, 128 plus the number of the signal that ended it. The
 * program's environment contains this cloud's settings, and no other cloud's settings.
 */
export async function runProgram(
  [name = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const inheritedVariables = Object.entries(process.env).filter(([variable]) => !variable.startsWith('OS_'));
  const childProcess = spawn(name, args, {
    stdio: 'inherit',
    env: { ...Object.fromEntries(inheritedVariables), ...environment },
  });
  const forwardSignal = (signal: NodeJS.Signals) => childProcess.kill(signal);
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forwardSignal);
  try {
    return await new Promise((resolve, reject) => {
      childProcess.once('error', reject);
      childProcess.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]));
    });
  } finally {
    for (const signal of FORWARDED_SIGNALS) process.off(signal, forwardSignal);
  }
}
