import { createRequire } from 'node:module';

/**
 * Loads the module `pg`, an optional peer dependency.
 *
 * @param from the URL of the importing module
 * @throws Error with the install command if it is not installed
 */
export function loadPg(from: string) {
  try {
    return createRequire(from)('pg');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'MODULE_NOT_FOUND' || !message.includes("'pg'")) throw cause;
    throw new Error('A PostgreSQL database needs the package pg, which is not installed: npm install pg', { cause });
  }
}
