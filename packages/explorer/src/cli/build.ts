import { buildStaticSite } from '../static/static-site.js';
import type { Command } from './command.js';
import { CommandError } from './command-error.js';
import { readPageOptions } from './page-options.js';

/** Runs the command `build`, which writes the pages as a static site. */
export async function build(command: Command): Promise<void> {
  const { out: folder = '', openapi } = command;
  const options = await readPageOptions(command);
  try {
    const { files, bytes } = await buildStaticSite(options, { folder, openapi });
    process.stdout.write(`${folder}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB\n`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
    throw new CommandError(`Cannot write to ${folder}: ${message}`);
  }
}
