import { aggregateDocs } from '../operations/aggregates.docs.js';
import { availabilityZoneDocs } from '../operations/availability-zones.docs.js';
import { assistedSnapshotDocs, externalEventDocs } from '../operations/external-services.docs.js';
import { flavorDocs } from '../operations/flavors.docs.js';
import { hostDocs } from '../operations/hosts.docs.js';
import { hypervisorDocs } from '../operations/hypervisors.docs.js';
import { keypairDocs } from '../operations/keypairs.docs.js';
import { migrationDocs } from '../operations/migrations.docs.js';
import { imageProxyDocs, networkProxyDocs, volumeProxyDocs } from '../operations/proxies/proxies.docs.js';
import { limitsDocs, quotaClassDocs, quotaSetDocs } from '../operations/quotas.docs.js';
import { serverGroupDocs } from '../operations/server-groups.docs.js';
import { instanceActionDocs } from '../operations/servers/instance-actions.docs.js';
import { interfaceDocs, shareDocs, volumeAttachmentDocs } from '../operations/servers/server-devices.docs.js';
import {
  serverConsoleDocs,
  serverDiagnosticsDocs,
  serverPasswordDocs,
  serverSecurityGroupDocs,
} from '../operations/servers/server-insight.docs.js';
import { serverAddressDocs, serverMetadataDocs, serverTagDocs } from '../operations/servers/server-labels.docs.js';
import { serverDocs } from '../operations/servers/servers.docs.js';
import { serviceDocs } from '../operations/services.docs.js';
import { auditLogDocs, usageDocs } from '../operations/usage.docs.js';
import { extensionDocs, versionDocs } from '../operations/versions.docs.js';
import type { Resource } from './resource.js';

/** Reference documentation of all resources. */
export const resources: readonly Resource[] = [
  flavorDocs,
  keypairDocs,
  serverGroupDocs,
  aggregateDocs,
  serviceDocs,
  hypervisorDocs,
  hostDocs,
  availabilityZoneDocs,
  serverDocs,
  instanceActionDocs,
  migrationDocs,
  serverMetadataDocs,
  serverTagDocs,
  serverAddressDocs,
  serverPasswordDocs,
  serverSecurityGroupDocs,
  serverConsoleDocs,
  serverDiagnosticsDocs,
  interfaceDocs,
  volumeAttachmentDocs,
  shareDocs,
  externalEventDocs,
  assistedSnapshotDocs,
  usageDocs,
  auditLogDocs,
  limitsDocs,
  quotaSetDocs,
  quotaClassDocs,
  versionDocs,
  extensionDocs,
  imageProxyDocs,
  networkProxyDocs,
  volumeProxyDocs,
];

/** Descriptions of all tags. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(resources.map(({ tag, about }) => [tag, about])),
  'volumes-boot':
    'Alias of the servers API, from the time when booting from a volume was an extension. Removed in 2.103.',
  removed: 'Operations that were removed permanently. They return 410 at every version.',
};
