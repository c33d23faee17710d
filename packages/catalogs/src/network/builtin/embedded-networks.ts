import type { Session } from '@apistrata/record-store';
import { type EmbeddedOptions, embeddedContext } from '../../builtin/embedded-options.js';
import type { NetworkCatalog } from '../network-catalog.js';
import type { NetworkPlans } from '../network-plan.js';
import { createFloatingIpOperations } from './floating-ips.js';
import { SlotBlocks } from './ip-allocations.js';
import { NetworkChanges } from './network-changes.js';
import type { NetworkContext } from './network-context.js';
import type { HostTunnel } from './network-mtu.js';
import { createNetworkPlanOperations } from './network-plans.js';
import { type NetworksSeed, seedNetworks } from './network-seed.js';
import { createPortOperations } from './ports.js';
import { createRouterOperations } from './routers.js';
import { createSecurityGroupRuleOperations } from './security-group-rules.js';
import { securityGroups } from './security-groups.js';
import { createServerPortOperations } from './server-ports.js';
import { createSubnetOperations } from './subnets.js';
import { createNetworkOperations } from './topology.js';

export interface EmbeddedNetworksOptions extends EmbeddedOptions {
  /** Called after a server's ports have changed, except when the server is created or deleted. */
  readonly onServerPortsChanged?: (serverId: string) => void;
  /** Returns the tunnels between hosts, which determine the MTU of new networks. Default: the hosts use no tunnels. */
  readonly hostTunnels?: (session: Session) => Promise<readonly HostTunnel[]>;
}

/**
 * Creates a network catalog in the engine's own database. In addition to {@link NetworkCatalog}, the catalog has the
 * operations that a network service needs. Concurrent callers never receive the same address.
 */
export function embeddedNetworks(options: EmbeddedNetworksOptions) {
  const context: NetworkContext = {
    ...embeddedContext('embeddedNetworks', options, ['onServerPortsChanged', 'hostTunnels']),
    blocks: new SlotBlocks(),
    onServerPortsChanged: options.onServerPortsChanged ?? (() => {}),
    hostTunnels: options.hostTunnels ?? (async () => []),
  };
  const networkChanges = new NetworkChanges();
  const operations = {
    ...createNetworkOperations(context),
    ...createSubnetOperations(context),
    ...createPortOperations(context),
    ...createServerPortOperations(context),
    ...securityGroups(context),
    ...createSecurityGroupRuleOperations(context),
    ...createFloatingIpOperations(context),
    ...createRouterOperations(context),
  };
  const catalog = {
    ...networkChanges.notify(operations),
    ...createNetworkPlanOperations(context, networkChanges.listen),
    seed: (seed: NetworksSeed): Promise<void> => seedNetworks(context, seed),
  };
  return catalog satisfies NetworkCatalog & NetworkPlans;
}

/** A network catalog in the engine's database, with the operations that a network service needs. */
export type EmbeddedNetworkCatalog = ReturnType<typeof embeddedNetworks>;
