import type { Operation } from '@apistrata/microversion/router';
import { aggregateOperations } from './aggregates.js';
import { availabilityZoneOperations } from './availability-zones.js';
import { withDefaultQuery } from './default-query.js';
import { extensionOperations } from './extensions.js';
import { flavorOperations } from './flavors.js';
import { flavorAccess } from './flavors-access.js';
import { flavorExtraSpecs } from './flavors-extra-specs.js';
import { flavorManagement } from './flavors-manage.js';
import { hostOperations } from './hosts.js';
import { hypervisorOperations } from './hypervisors.js';
import { keypairOperations } from './keypairs.js';
import { limitsOperations } from './limits.js';
import { quotaClassOperations } from './quota-classes.js';
import { quotaSetOperations } from './quota-sets.js';
import { removedOperations } from './removed.js';
import { serverGroupOperations } from './server-groups.js';
import { changeServers } from './servers/change.js';
import { createServer } from './servers/create.js';
import { serverHistory } from './servers/history.js';
import { powerActions } from './servers/power-actions.js';
import { readServers } from './servers/read.js';
import { serviceOperations } from './services.js';
import { usageOperations } from './usage.js';
import { versionOperations } from './versions.js';
import { volumesBootOf } from './volumes-boot.js';

const defined: readonly Operation[] = [
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
  ...serverHistory,
  ...removedOperations,
  ...versionOperations,
  ...extensionOperations,
  ...limitsOperations,
  ...quotaClassOperations,
  ...quotaSetOperations,
  ...usageOperations,
];

/** Every operation of the compute API. What it serves, documents and tests is this list. */
export const operations: readonly Operation[] = [...defined, ...volumesBootOf(defined)].map(withDefaultQuery);
