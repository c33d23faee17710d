import { cidrOf, ipOf } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { Wire } from '../service/wire.js';
import { networkError } from './network-errors.js';
import { rejectOverQuota } from './quota-routes.js';

/** Rejects static routes whose next hop is outside the router's subnets or is one of the router's addresses. */
export async function checkRoutes(call: Call, router: Doc, routes: readonly Wire[]): Promise<void> {
  const { networks } = call.cloud.catalogs;
  const routerAddresses = (await networks.listPorts(call.elevatedCaller, { deviceIds: [router.id] })).flatMap(
    ({ fixedIps }) => fixedIps,
  );
  const subnets = (await networks.listSubnets(call.elevatedCaller)).filter(({ id }) =>
    routerAddresses.some(({ subnetId }) => subnetId === id),
  );
  const prefixes = subnets.map(({ cidr }) => cidrOf(cidr));
  for (const { nexthop } of routes) {
    const { version, value } = ipOf(String(nexthop));
    const isConnected = prefixes.some((one) => one.version === version && one.first <= value && value <= one.last);
    const isRouterAddress = routerAddresses.some(({ address }) => address === nexthop);
    if (!isConnected || isRouterAddress)
      throw networkError(
        'InvalidRoutes',
        `Invalid format for routes: ${JSON.stringify(routes)}, the nexthop is ${isConnected ? 'used by' : 'not connected with'} router`,
      );
  }
  rejectOverQuota(call, String(router.project_id), 'router_route', routes.length);
}
