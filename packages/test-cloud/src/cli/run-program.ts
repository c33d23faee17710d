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
  const rest = Object.entries(process.env).filter(([variable]) => !variable.startsWith('OS_'));
  const program = spawn(name, args, { stdio: 'inherit', env: { ...Object.fromEntries(rest), ...environment } });
  const forward = (signal: NodeJS.Signals) => program.kill(signal);
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      program.once('error', reject);
      program.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]));
    });
  } finally {
    for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
  }
}
