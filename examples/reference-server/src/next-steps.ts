import { callerKindOf } from './callers.js';
import { CLOUD_NAME } from './cloud/cloud-name.js';
import type { Options } from './options.js';

/** Returns commands that a new user can try first. */
export function nextSteps(url: string, options: Pick<Options, 'auth' | 'cloud'>): readonly string[] {
  const kind = callerKindOf(options);
  if (kind === 'noauth') return [`curl -H 'X-Auth-Token: ada:demo' ${url}/v2.1/flavors`];
  if (kind === 'cloud') return [`openstack --os-cloud ${CLOUD_NAME} server list`];
  const token = kind === 'tokens' ? 'A-TOKEN-OF-YOUR-FILE' : '$(openstack token issue -f value -c id)';
  return [`curl -H "X-Auth-Token: ${token}" ${url}/v2.1/flavors`];
}
