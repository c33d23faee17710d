import { spawn } from 'node:child_process';
import { MaintenanceError } from './maintenance-error.js';

/** Maximum number of characters of a program's output in an error message. The end of the output is kept. */
const MAX_OUTPUT_CHARACTERS = 500;

/**
 * Runs a PostgreSQL client program on a database. The password is passed in the environment, where other users of the
 * computer cannot read it.
 * @param args arguments, in which `URL` is replaced by the address of the database
 */
export async function runPostgresTool(program: 'pg_dump' | 'pg_restore', url: string, args: readonly string[]) {
  // A regular expression, because the class `URL` cannot parse an address with several hosts, which `program` accepts.
  const [, user = '', encodedPassword = ''] = /^\w+:\/\/([^:@/?]*):([^@/?]*)@/.exec(url) ?? [];
  const urlWithoutPassword = encodedPassword === '' ? url : url.replace(`${user}:${encodedPassword}@`, `${user}@`);
  const password = decodeURIComponent(encodedPassword);
  const child = spawn(
    program,
    args.map((arg) => (arg === 'URL' ? urlWithoutPassword : arg)),
    { env: { ...process.env, ...(password && { PGPASSWORD: password }) }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new MaintenanceError(
              `${program} is not installed: install PostgreSQL's client programs, of the server's version or newer`,
            )
          : error,
      ),
    );
  });
  if (code === 0) return;
  const excerpt = output.replaceAll(/\s+/g, ' ').trim().slice(-MAX_OUTPUT_CHARACTERS);
  throw new MaintenanceError(`${program} failed: ${excerpt}`);
}
