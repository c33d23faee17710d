import { readFileSync } from 'node:fs';
import type { EventOptions } from '@apistrata/compute-engine/events';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').split('\n', 1)[0]!.trim();
  } catch (error) {
    throw new StartError(`--webhook-secret-file ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** What is kept of what happens, and who is told of it; undefined: nothing. */
export function eventsFrom(options: Options): EventOptions | undefined {
  const { webhook: urls, 'webhook-secret-file': file } = options;
  if (urls.length === 0) return options.events ? {} : undefined;
  if (file === undefined) throw new StartError('--webhook needs --webhook-secret-file FILE: what is told is signed');
  const secret = secretIn(file);
  return { webhooks: urls.map((url) => ({ url, secret })) };
}
