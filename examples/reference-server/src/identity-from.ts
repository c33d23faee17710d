import { type Identity, identityService, noauth, staticTokens } from '@apistrata/compute-router';
import type { Observation } from './observation.js';
import type { Options } from './options.js';
import { readJson } from './preset-file.js';
import { readCredentials } from './services.js';
import { StartError } from './start-error.js';

/** Creates the authentication method that `--auth` selects. */
export function identityFrom(
  options: Options,
  environment: NodeJS.ProcessEnv,
  { metrics, traces }: Pick<Observation, 'metrics' | 'traces'>,
): Identity {
  const kind = options.auth;
  if (kind === 'noauth') return noauth({ projectId: options['noauth-project'] });
  if (kind === 'tokens') {
    if (!options.tokens) throw new StartError('--auth tokens needs --tokens FILE');
    return staticTokens(readJson('tokens', options.tokens) as Parameters<typeof staticTokens>[0]);
  }
  if (!options['identity-url']) throw new StartError('--auth identity needs --identity-url URL');
  return identityService({
    url: options['identity-url'],
    ...readCredentials(environment),
    onLookup: metrics?.identity,
    headers: traces?.headers,
  });
}
