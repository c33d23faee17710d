import type { Environment } from '@apistrata/test-cloud/services';

/** Returns shell commands that set the environment variables for clients. */
export function openrc(settings: Environment): string {
  return Object.entries(settings)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n');
}
