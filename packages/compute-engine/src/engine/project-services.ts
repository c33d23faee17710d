import type { Core } from '../core/core.js';
import { Flavors } from '../resources/flavors/flavors.js';
import { Keypairs } from '../resources/keypairs.js';
import { Quotas } from '../resources/quotas/quotas.js';
import { ServerGroups } from '../resources/server-groups.js';
import { Usage } from '../resources/usage/usage.js';
import { Migrations } from '../server-migrations/migrations.js';
import { InstanceActions } from '../servers/action-history/instance-actions.js';
import type { InterfaceRefresh } from '../servers/interfaces/interface-refresh.js';
import { Interfaces } from '../servers/interfaces/interfaces.js';
import { ServerNetwork } from '../servers/interfaces/server-network.js';
import { Servers } from '../servers/servers.js';
import { ServerMetadata } from '../servers/update/metadata.js';
import { ServerTags } from '../servers/update/tags.js';
import { VolumeAttachments } from '../servers/volumes/volume-attachments.js';

/**
 * Creates the services for project resources and flavors. They handle most reads, and may read from replicas. Services
 * for hosts and consoles are not included, because they need current data.
 */
export function createProjectServices(core: Core, interfaceRefresh: InterfaceRefresh) {
  const servers = new Servers(core);
  return {
    servers,
    migrations: new Migrations(core),
    flavors: new Flavors(core),
    keypairs: new Keypairs(core),
    serverGroups: new ServerGroups(core),
    instanceActions: new InstanceActions(core),
    quotas: new Quotas(core),
    usage: new Usage(core),
    serverMetadata: new ServerMetadata(core, servers),
    serverTags: new ServerTags(servers),
    volumeAttachments: new VolumeAttachments(servers),
    interfaces: new Interfaces(core, interfaceRefresh),
    serverNetwork: new ServerNetwork(core, interfaceRefresh),
  };
}
