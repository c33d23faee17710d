import type { OptionKind } from './option-kinds.js';
import { optionTable } from './options.js';

/** The text of --help. */
export function helpText(): string {
  const rows = (Object.entries(optionTable) as [string, OptionKind<unknown>][]).map(
    ([name, { placeholder, help, fallback, repeat }]) => {
      const left = `  --${name}${placeholder ? ` ${placeholder}` : ''}`;
      const shown = typeof fallback === 'string' || typeof fallback === 'number' ? ` (default ${fallback})` : '';
      return `${left.padEnd(30)}${help}${shown}${repeat ? '; may be repeated' : ''}`;
    },
  );
  return [
    'Usage: npm start -- [options]',
    '       npm start -- admin COMMAND [options]',
    '       npm start -- host --name NAME --db postgres://... [options]',
    '',
    'Serves the compute API, with simulated machines or virtual ones (--driver qemu). admin has the commands of operators:',
    'status, backup, restore, purge, quotas, services (admin --help). host makes this computer one more host of a cloud (host --help).',
    '',
    ...rows,
    '',
    'Each option may also be an environment variable: --log-level is APISTRATA_LOG_LEVEL.',
    'SIGHUP reads the configuration file again: policies, log level and all limits change at once; then it replaces --workers.',
    'Credentials for real services: OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME, OS_USER_DOMAIN_NAME, OS_PROJECT_DOMAIN_NAME.',
  ].join('\n');
}
