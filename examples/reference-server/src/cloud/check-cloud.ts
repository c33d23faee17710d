import type { Options } from '../options.js';
import { SERVICE_OPTIONS } from '../services.js';
import { StartError } from '../start-error.js';

/** Checks that `--cloud` is compatible with the other options. @throws StartError */
export function checkCloud(options: Options): void {
  if (!options.cloud) {
    for (const name of ['clouds-yaml', 'lockout-failure-attempts', 'reset-admin-password'] as const)
      if (options[name]) throw new StartError(`--${name} needs --cloud`);
    if (options['image-source'].length > 0) throw new StartError('--image-source needs --cloud');
    return;
  }
  if (options.auth !== 'noauth')
    throw new StartError(`--cloud has its own users: it cannot be combined with --auth ${options.auth}`);
  for (const name of ['identity-url', ...Object.values(SERVICE_OPTIONS)] as const)
    if (options[name] !== undefined)
      throw new StartError(`--cloud has its own services: it cannot be combined with --${name}`);
  if (options.workers !== undefined)
    throw new StartError(
      '--cloud cannot be combined with --workers: a single process must manage the users, tokens and network settings',
    );
}
