import { defineService } from '../service/fake-service.js';
import { Resource, type ResourceSpec } from '../service/resource.js';
import { resourceRoutes } from '../service/resource-routes.js';
import type { Route } from '../service/route.js';
import { addressGroups, addressScopes } from './address-resources.js';
import { agents } from './agents.js';
import { availabilityRoutes } from './availability.js';
import { conntrackHelpers } from './conntrack-helpers.js';
import { discoveryRoutes } from './extensions.js';
import { flavors, serviceProfiles } from './flavors.js';
import { floatingIps } from './floating-ips.js';
import { fromCatalogError, networkFault } from './network-errors.js';
import { networkStyle } from './network-style.js';
import { networks } from './networks.js';
import { portForwardings } from './port-forwardings.js';
import { ports } from './ports.js';
import { qosPolicies, qosRules, qosTypeRoutes, withQosPolicy } from './qos.js';
import { quotaRoutes, withQuota } from './quota-routes.js';
import { rbacPolicies } from './rbac-policies.js';
import { routers } from './routers.js';
import { securityGroupRules, securityGroups } from './security-groups.js';
import { segmentRanges } from './segment-ranges.js';
import { segments } from './segments.js';
import { smallResources } from './small-resources.js';
import { subnetPools } from './subnet-pools.js';
import { subnets } from './subnets.js';
import { trunks } from './trunks.js';

const RESOURCES: readonly ResourceSpec[] = [
  networks,
  subnets,
  ports,
  routers,
  conntrackHelpers,
  floatingIps,
  portForwardings,
  securityGroups,
  securityGroupRules,
  subnetPools,
  addressScopes,
  addressGroups,
  rbacPolicies,
  trunks,
  qosPolicies,
  ...qosRules,
  segments,
  segmentRanges,
  agents,
  flavors,
  serviceProfiles,
  ...smallResources,
];

/** Returns the routes of the network service. */
export const networkRoutes = (): readonly Route[] => [
  ...discoveryRoutes(),
  ...availabilityRoutes(),
  ...qosTypeRoutes(),
  ...quotaRoutes(),
  ...RESOURCES.flatMap((spec) => resourceRoutes(new Resource(networkStyle, withQuota(withQosPolicy(spec))))),
];

/** The network service, version 2.0. Servers obtain their ports from the same catalog. */
export const networkService = defineService({
  name: 'network',
  types: ['network'],
  unknownPathType: 'HTTPNotFound',
  readsEveryType: true,
  routes: networkRoutes,
  fromCatalogError: fromCatalogError,
  fault: networkFault,
});
