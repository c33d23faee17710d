import {
  type Catalogs,
  httpImages,
  httpNetworks,
  httpVolumes,
  ServiceSession,
} from '@apistrata/compute-engine/catalogs';
import type { Observation } from './observation.js';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

/** The resource catalogs that remote services can provide, and the options with the services' URLs. */
export const SERVICE_OPTIONS = { images: 'image-url', networks: 'network-url', volumes: 'volume-url' } as const;

/** Returns the credentials with which the server authenticates to the other services. */
export function readCredentials(environment: NodeJS.ProcessEnv) {
  const { OS_USERNAME: username, OS_PASSWORD: password } = environment;
  if (!username || !password)
    throw new StartError(
      '--identity-url needs OS_USERNAME and OS_PASSWORD in the environment: the credentials of the server',
    );
  return {
    username,
    password,
    projectName: environment.OS_PROJECT_NAME ?? 'service',
    userDomainName: environment.OS_USER_DOMAIN_NAME ?? 'Default',
    projectDomainName: environment.OS_PROJECT_DOMAIN_NAME ?? 'Default',
  };
}

/** Creates clients for the configured remote services. All clients share one login. */
export function catalogsFrom(
  options: Options,
  environment: NodeJS.ProcessEnv,
  { traces }: Pick<Observation, 'traces'>,
): Partial<Catalogs> {
  const { images, networks, volumes } = SERVICE_OPTIONS;
  const urls = { images: options[images], networks: options[networks], volumes: options[volumes] };
  if (!Object.values(urls).some(Boolean)) return {};
  const authUrl = options['identity-url'];
  if (!authUrl)
    throw new StartError(
      '--image-url, --network-url and --volume-url need --identity-url, which authenticates the server',
    );
  const headers = traces?.headers;
  const session = new ServiceSession({ authUrl, ...readCredentials(environment) }, { headers });
  return {
    ...(urls.images && { images: httpImages({ url: urls.images, session, headers }) }),
    ...(urls.networks && { networks: httpNetworks({ url: urls.networks, session, headers }) }),
    ...(urls.volumes && { volumes: httpVolumes({ url: urls.volumes, session, headers }) }),
  };
}
