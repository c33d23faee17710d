import { expect, onTestFinished } from 'vitest';
import { admin as runAdmin } from '../src/admin/admin.js';
import { StartError } from '../src/start-error.js';
import { type Program, startProgram } from './program.js';

/** Starts a server without a secret key in the environment. The server is killed at the end of the test. */
export async function start(...args: string[]): Promise<Program> {
  const program = await startProgram([...args, '--log-level', 'info'], { APISTRATA_SECRET_KEY: '' });
  onTestFinished(async () => void (await program.end('SIGKILL')));
  return program;
}

/** Runs an admin command in this process, which is much faster than a separate one. */
export async function admin(...args: string[]): Promise<{ code: number; output: string }> {
  try {
    const { output, exitCode } = await runAdmin(args, {});
    return { code: exitCode, output: `${output}\n` };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { code: error.exitCode, output: `${error.message}\n` };
  }
}

/** Returns the JSON output of a command, which must succeed. */
export async function adminJson(...args: string[]): Promise<any> {
  const { code, output } = await admin(...args, '--json');
  expect([code, output]).toEqual([0, expect.stringMatching(/^\{/)]);
  return JSON.parse(output);
}
