import type { Environment } from '@apistrata/test-cloud/services';

/** Returns commands of a shell that set the environment of clients. */
export function openrc(settings: Environment): string {
  return Object.entries(settings)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n');
}
