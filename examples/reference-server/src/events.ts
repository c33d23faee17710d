import { readFileSync } from 'node:fs';
import type { EventOptions } from '@apistrata/compute-engine/events';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8')
      .replace(/\n[\s\S]*/, '')
      .trim();
  } catch (error) {
    throw new StartError(`--webhook-secret-file ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Returns the engine's event options, which contain the webhooks; undefined if events are disabled. */
export function eventOptionsFrom(options: Options): EventOptions | undefined {
  const { webhook: urls, 'webhook-attempts': attempts, 'webhook-secret-file': file } = options;
  if (urls.length === 0) return options.events ? {} : undefined;
  if (file === undefined) throw new StartError('--webhook needs --webhook-secret-file FILE: events are signed');
  const secret = readSecret(file);
  return { webhooks: urls.map((url) => ({ url, secret, attempts })) };
}
