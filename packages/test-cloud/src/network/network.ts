import type { EmbeddedCatalogs } from '@apistrata/compute-engine';
import { type StandInOptions, standIn } from '../service/stand-in.js';
import { discoveryRoutes } from './extensions.js';
import { portRoutes } from './port-routes.js';
import { quotaRoutes } from './quota-routes.js';
import { routerRoutes } from './router-routes.js';
import { securityGroupRoutes } from './security-group-routes.js';
import { topologyRoutes } from './topology-routes.js';

/** The network service, version 2, on the catalog that servers get their ports from. */
export function networkService(
  catalogs: () => EmbeddedCatalogs,
  limits: Map<string, Record<string, number>>,
  surroundings: Omit<StandInOptions, 'name' | 'routes' | 'fault'>,
) {
  const networks = () => catalogs().networks;
  return standIn({
    ...surroundings,
    name: 'network',
    routes: [
      ...discoveryRoutes(),
      ...topologyRoutes(networks),
      ...portRoutes(networks),
      ...routerRoutes(networks),
      ...securityGroupRoutes(networks),
      ...quotaRoutes(networks, limits),
    ],
    fault: ({ code, message }) => ({ NeutronError: { type: code, message, detail: '' } }),
  });
}
