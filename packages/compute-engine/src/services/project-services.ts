import type { Core } from '../core.js';
import { Flavors } from './flavors.js';
import { InstanceActions } from './instance-actions.js';
import { Keypairs } from './keypairs.js';
import { Migrations } from './migrations.js';
import { Quotas } from './quotas.js';
import { ServerGroups } from './server-groups.js';
import type { InterfaceRefresh } from './servers/interface-refresh.js';
import { Interfaces } from './servers/interfaces.js';
import { ServerMetadata } from './servers/metadata.js';
import { ServerNetwork } from './servers/server-network.js';
import { Servers } from './servers/servers.js';
import { ServerTags } from './servers/tags.js';
import { VolumeAttachments } from './servers/volume-attachments.js';
import { Usage } from './usage.js';

/**
 * The services of what belongs to projects, and of flavors: what most questions are about, and what replicas may answer. Not
 * among them is what says which hosts there are and which consoles are open: those who ask must know it as it is.
 */
export function projectServices(core: Core, interfaceRefresh: InterfaceRefresh) {
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
