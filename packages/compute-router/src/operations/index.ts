import type { Operation } from '@apistrata/microversion-router';
import { aggregateOperations } from './aggregates.js';
import { assistedVolumeSnapshots } from './assisted-volume-snapshots.js';
import { availabilityZoneOperations } from './availability-zones.js';
import { consoleAuthTokens } from './console-auth-tokens.js';
import { withDefaultQuery } from './default-query.js';
import { extensionOperations } from './extensions.js';
import { externalEvents } from './external-events.js';
import { flavorOperations } from './flavors.js';
import { flavorAccess } from './flavors-access.js';
import { flavorExtraSpecs } from './flavors-extra-specs.js';
import { flavorManagement } from './flavors-manage.js';
import { hostOperations } from './hosts.js';
import { hypervisorOperations } from './hypervisors.js';
import { keypairOperations } from './keypairs.js';
import { limitsOperations } from './limits.js';
import { migrationOperations } from './migrations.js';
import { proxyOperations } from './proxies/index.js';
import { quotaClassOperations } from './quota-classes.js';
import { quotaSetOperations } from './quota-sets.js';
import { removedOperations } from './removed.js';
import { serverGroupOperations } from './server-groups.js';
import { adminActions } from './servers/admin-actions.js';
import { changeServers } from './servers/change.js';
import { serverConsoles } from './servers/consoles.js';
import { createServer } from './servers/create.js';
import { serverDiagnostics } from './servers/diagnostics.js';
import { serverHistory } from './servers/history.js';
import { imageActions } from './servers/image-actions.js';
import { serverInterfaces } from './servers/interfaces.js';
import { serverIps } from './servers/ips.js';
import { serverMetadata } from './servers/metadata.js';
import { moveActions } from './servers/move-actions.js';
import { networkActions } from './servers/network-actions.js';
import { serverPassword } from './servers/password.js';
import { powerActions } from './servers/power-actions.js';
import { readServers } from './servers/read.js';
import { rebuildActions } from './servers/rebuild-actions.js';
import { serverSecurityGroups } from './servers/security-groups.js';
import { serverShares } from './servers/shares.js';
import { shelveActions } from './servers/shelve-actions.js';
import { serverTags } from './servers/tags.js';
import { serverTopology } from './servers/topology.js';
import { volumeAttachments } from './servers/volume-attachments.js';
import { serviceOperations } from './services.js';
import { usageOperations } from './usage.js';
import { usageAuditLog } from './usage-audit-log.js';
import { versionOperations } from './versions.js';
import { volumesBootOperationsOf } from './volumes-boot.js';

const definedOperations: readonly Operation[] = [
  ...flavorOperations,
  ...flavorManagement,
  ...flavorAccess,
  ...flavorExtraSpecs,
  ...keypairOperations,
  ...serverGroupOperations,
  ...aggregateOperations,
  ...serviceOperations,
  ...hypervisorOperations,
  ...hostOperations,
  ...availabilityZoneOperations,
  ...readServers,
  createServer,
  ...changeServers,
  ...powerActions,
  ...adminActions,
  ...rebuildActions,
  ...moveActions,
  ...imageActions,
  ...shelveActions,
  ...serverHistory,
  ...migrationOperations,
  ...serverMetadata,
  ...serverTags,
  ...serverIps,
  ...serverPassword,
  ...serverSecurityGroups,
  ...serverConsoles,
  ...serverDiagnostics,
  serverTopology,
  ...networkActions,
  ...serverInterfaces,
  ...volumeAttachments,
  ...serverShares,
  ...assistedVolumeSnapshots,
  ...consoleAuthTokens,
  externalEvents,
  ...usageAuditLog,
  ...removedOperations,
  ...versionOperations,
  ...extensionOperations,
  ...limitsOperations,
  ...quotaClassOperations,
  ...quotaSetOperations,
  ...usageOperations,
  ...proxyOperations,
];

/** All compute API operations: the router serves them, and the documents and the tests are based on them. */
export const operations: readonly Operation[] = [
  ...definedOperations,
  ...volumesBootOperationsOf(definedOperations),
].map(withDefaultQuery);
