import { spawn } from 'node:child_process';
import { OperatingError } from './operating-error.js';

/** The end of what a program said, as one line. */
const LONGEST_TOLD = 500;

/**
 * Runs a program of PostgreSQL's client tools on a database. The password goes through the environment, where other users
 * of the machine cannot read it.
 * @param args `URL` stands for the address of the database
 */
export async function runPostgresTool(program: 'pg_dump' | 'pg_restore', url: string, args: readonly string[]) {
  // Of several hosts, which `URL` does not know, the tools choose themselves.
  const [, user = '', secret = ''] = /^\w+:\/\/([^:@/?]*):([^@/?]*)@/.exec(url) ?? [];
  const address = secret === '' ? url : url.replace(`${user}:${secret}@`, `${user}@`);
  const password = decodeURIComponent(secret);
  const child = spawn(
    program,
    args.map((arg) => (arg === 'URL' ? address : arg)),
    { env: { ...process.env, ...(password && { PGPASSWORD: password }) }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let told = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (told += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new OperatingError(
              `${program} is not on this machine: install PostgreSQL's client programs, of the server's version or newer`,
            )
          : error,
      ),
    );
  });
  if (code === 0) return;
  const words = told.replaceAll(/\s+/g, ' ').trim().slice(-LONGEST_TOLD);
  throw new OperatingError(`${program} failed: ${words}`);
}
