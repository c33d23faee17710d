import type { Environment } from '@apistrata/test-cloud/services';

/** Returns shell commands that export the environment variables that clients read. */
export function formatOpenrc(settings: Environment): string {
  return Object.entries(settings)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n');
}
