import type { Operation } from '@apistrata/microversion-router';
import { baremetalProxies } from './baremetal-nodes.js';
import { fixedIpProxies } from './fixed-ips.js';
import { floatingIpProxies } from './floating-ips.js';
import { imageMetadataProxies } from './image-metadata.js';
import { imageProxies } from './images.js';
import { networkProxies } from './networks.js';
import { securityGroupProxies } from './security-groups.js';
import { snapshotProxies } from './snapshots.js';
import { volumeProxies } from './volumes.js';

/** Operations that forward requests to other services. They were removed in later microversions. */
export const proxyOperations: readonly Operation[] = [
  ...imageProxies,
  ...imageMetadataProxies,
  ...networkProxies,
  ...floatingIpProxies,
  ...fixedIpProxies,
  ...securityGroupProxies,
  ...volumeProxies,
  ...snapshotProxies,
  ...baremetalProxies,
];
