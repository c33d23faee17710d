import type { Session } from '@apistrata/record-store';
import { type EmbeddedOptions, embeddedContext } from '../../builtin/embedded-options.js';
import type { NetworkCatalog } from '../network-catalog.js';
import type { NetworkPlans } from '../network-plan.js';
import { floatingAddresses } from './floating-ips.js';
import { SlotBlocks } from './ip-allocations.js';
import { NetworkChanges } from './network-changes.js';
import type { NetworkContext } from './network-context.js';
import type { HostTunnel } from './network-mtu.js';
import { networkPlans } from './network-plans.js';
import { type NetworksSeed, seedNetworks } from './network-seed.js';
import { portVerbs } from './ports.js';
import { routerVerbs } from './routers.js';
import { securityGroupRules } from './security-group-rules.js';
import { securityGroups } from './security-groups.js';
import { serverPorts } from './server-ports.js';
import { subnetVerbs } from './subnets.js';
import { topology } from './topology.js';

export interface EmbeddedNetworksOptions extends EmbeddedOptions {
  /** Called after the commit when ports of a server were changed by anything other than its creation or deletion. */
  readonly onServerPortsChanged?: (serverId: string) => void;
  /** Returns the tunnels of the hosts, for the MTU of new networks. Default: none. */
  readonly hostTunnels?: (session: Session) => Promise<readonly HostTunnel[]>;
}

/**
 * Creates a network catalog in the engine's own database, with all operations of a network service in addition to
 * {@link NetworkCatalog}. No address is ever allocated twice, even by concurrent callers.
 */
export function embeddedNetworks(options: EmbeddedNetworksOptions) {
  const context: NetworkContext = {
    ...embeddedContext('embeddedNetworks', options, ['onServerPortsChanged', 'hostTunnels']),
    blocks: new SlotBlocks(),
    onServerPortsChanged: options.onServerPortsChanged ?? (() => {}),
    hostTunnels: options.hostTunnels ?? (async () => []),
  };
  const changes = new NetworkChanges();
  const verbs = {
    ...topology(context),
    ...subnetVerbs(context),
    ...portVerbs(context),
    ...serverPorts(context),
    ...securityGroups(context),
    ...securityGroupRules(context),
    ...floatingAddresses(context),
    ...routerVerbs(context),
  };
  const catalog = {
    ...changes.notify(verbs),
    ...networkPlans(context, changes.listen),
    seed: (seed: NetworksSeed): Promise<void> => seedNetworks(context, seed),
  };
  return catalog satisfies NetworkCatalog & NetworkPlans;
}

/** Networks in the engine's database, with the operations of a network service. */
export type EmbeddedNetworkCatalog = ReturnType<typeof embeddedNetworks>;
