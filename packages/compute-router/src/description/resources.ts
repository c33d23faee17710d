import { aggregateWords } from '../operations/aggregates.words.js';
import { availabilityZoneWords } from '../operations/availability-zones.words.js';
import { assistedSnapshotWords, externalEventWords } from '../operations/external-services.words.js';
import { flavorWords } from '../operations/flavors.words.js';
import { hostWords } from '../operations/hosts.words.js';
import { hypervisorWords } from '../operations/hypervisors.words.js';
import { keypairWords } from '../operations/keypairs.words.js';
import { migrationWords } from '../operations/migrations.words.js';
import { imageProxyWords, networkProxyWords, volumeProxyWords } from '../operations/proxies/proxies.words.js';
import { limitsWords, quotaClassWords, quotaSetWords } from '../operations/quotas.words.js';
import { serverGroupWords } from '../operations/server-groups.words.js';
import { instanceActionWords } from '../operations/servers/instance-actions.words.js';
import { interfaceWords, shareWords, volumeAttachmentWords } from '../operations/servers/server-devices.words.js';
import {
  serverConsoleWords,
  serverDiagnosticsWords,
  serverPasswordWords,
  serverSecurityGroupWords,
} from '../operations/servers/server-insight.words.js';
import { serverAddressWords, serverMetadataWords, serverTagWords } from '../operations/servers/server-labels.words.js';
import { serverWords } from '../operations/servers/servers.words.js';
import { serviceWords } from '../operations/services.words.js';
import { auditLogWords, usageWords } from '../operations/usage.words.js';
import { extensionWords, versionWords } from '../operations/versions.words.js';
import type { Resource } from './resource.js';

/** Everything that the API is about. */
export const resources: readonly Resource[] = [
  flavorWords,
  keypairWords,
  serverGroupWords,
  aggregateWords,
  serviceWords,
  hypervisorWords,
  hostWords,
  availabilityZoneWords,
  serverWords,
  instanceActionWords,
  migrationWords,
  serverMetadataWords,
  serverTagWords,
  serverAddressWords,
  serverPasswordWords,
  serverSecurityGroupWords,
  serverConsoleWords,
  serverDiagnosticsWords,
  interfaceWords,
  volumeAttachmentWords,
  shareWords,
  externalEventWords,
  assistedSnapshotWords,
  usageWords,
  auditLogWords,
  limitsWords,
  quotaSetWords,
  quotaClassWords,
  versionWords,
  extensionWords,
  imageProxyWords,
  networkProxyWords,
  volumeProxyWords,
];

/** What each tag is about. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(resources.map(({ tag, about }) => [tag, about])),
  'volumes-boot':
    'Servers under another address, from the time when booting from a volume was an extension. Gone in 2.103.',
  removed: 'What is gone for good: each answers 410 at every version.',
};
