import { type ActionRules, rulesByName } from '@apistrata/compute-engine/actions';
import type { ApiDescription, Operation } from '@apistrata/microversion-router';
import { RULES } from '../policy/rules.js';
import { computeApiDescription } from './api-description.js';
import { computeApiCommands } from './commands.js';
import { computeApiHistory } from './history.js';
import { type ComputeSampleRequest, sdkSamples } from './sdk-samples.js';

export type { ComputeSampleRequest } from './sdk-samples.js';

/** Information about an operation that its definition does not contain. */
export interface ComputeOperationFacts {
  /** Whether the default policy allows only administrators to call the operation. */
  readonly adminOnly: boolean;
  /** The server states in which the operation is allowed, by state field. */
  readonly states?: Readonly<Record<string, string>>;
}

/** The compute API's documentation, as options for `explorer()` from `@apistrata/explorer`. */
export interface ComputeApiReference {
  readonly description: Omit<ApiDescription, 'serverUrl'>;
  readonly history: Readonly<Record<string, string>>;
  readonly commands: Readonly<Record<string, string>>;
  readonly groups: readonly {
    readonly title: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly collapsed?: boolean;
  }[];
  readonly tagAliases: Readonly<Record<string, string>>;
  readonly facts: (operation: Operation) => ComputeOperationFacts;
  readonly samples: readonly { readonly label: string; readonly code: (request: ComputeSampleRequest) => string }[];
  readonly valueSources: Readonly<
    Record<string, { readonly path: string; readonly field?: string; readonly version?: string }>
  >;
}

const groups: ComputeApiReference['groups'] = [
  {
    title: 'Servers',
    tags: {
      servers: 'Servers and actions',
      'server-metadata': 'Metadata',
      'server-tags': 'Tags',
      'server-addresses': 'Addresses',
      interfaces: 'Network interfaces',
      'volume-attachments': 'Volume attachments',
      shares: 'Shares',
      'server-security-groups': 'Security groups',
      'server-passwords': 'Passwords',
      consoles: 'Consoles',
      diagnostics: 'Diagnostics',
      'instance-actions': 'Action history',
      migrations: 'Migrations',
    },
  },
  {
    title: 'Resources',
    tags: {
      flavors: 'Flavors',
      keypairs: 'Key pairs',
      'server-groups': 'Server groups',
      'availability-zones': 'Availability zones',
      limits: 'Limits',
      'quota-sets': 'Quotas',
      usage: 'Usage',
    },
  },
  {
    title: 'Administration',
    tags: {
      hypervisors: 'Hypervisors',
      services: 'Services',
      aggregates: 'Host aggregates',
      hosts: 'Hosts',
      'quota-classes': 'Quota classes',
      'external-events': 'External events',
      'assisted-volume-snapshots': 'Assisted volume snapshots',
      'usage-audit-log': 'Usage audits',
    },
  },
  { title: 'API', tags: { versions: 'Versions', extensions: 'Extensions' } },
  {
    title: 'Proxies and removed operations',
    tags: { proxies: 'Proxies', removed: 'Removed operations' },
    collapsed: true,
  },
];

/** The engine's action names, for operations whose name or action key differs from the engine's. */
const ENGINE_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  reboot: ['rebootSoft', 'rebootHard'],
  deleteServer: ['delete'],
  createServerInterface: ['attachInterface'],
  deleteServerInterface: ['detachInterface'],
  createVolumeAttachment: ['attachVolume'],
  updateVolumeAttachment: ['swapVolume'],
  deleteVolumeAttachment: ['detachVolume'],
  createServerShare: ['attachShare'],
  deleteServerShare: ['detachShare'],
  forceCompleteServerMigration: ['live_migration_force_complete'],
  abortServerMigration: ['live_migration_cancel'],
};

const formatNames = (values: readonly (string | null)[]) =>
  values.map((value) => (value === null ? 'none' : `\`${value}\``)).join(', ');

function formatTaskStates({ taskStates, excludedTaskStates }: ActionRules): string {
  if (excludedTaskStates) return `any except ${formatNames(excludedTaskStates)}`;
  return taskStates === 'any' ? 'any' : formatNames(taskStates ?? [null]);
}

function statesOf(actions: readonly ActionRules[]): Readonly<Record<string, string>> {
  const entries = actions.flatMap((rules) => {
    const suffix = actions.length > 1 ? ` (${rules.name})` : '';
    return [
      [`vm_state${suffix}`, rules.vmStates ? formatNames(rules.vmStates) : 'any'],
      [`task_state${suffix}`, formatTaskStates(rules)],
      ...(rules.lock ? [[`locked${suffix}`, '`false`, except for administrators']] : []),
      ...(rules.rejectionWithShares ? [[`shares${suffix}`, 'none attached']] : []),
    ];
  });
  return Object.fromEntries(entries);
}

function factsOf({ action, name, policy }: Operation): ComputeOperationFacts {
  const rules = [policy ?? []].flat();
  const adminOnly =
    rules.length > 0 &&
    rules.every((rule) => Object.hasOwn(RULES, rule) && RULES[rule as keyof typeof RULES] === 'admin');
  const engineNames = ENGINE_ACTIONS[action ?? ''] ?? ENGINE_ACTIONS[name ?? ''] ?? [action ?? ''];
  const actions = engineNames.flatMap((each) => rulesByName.get(each) ?? []);
  return { adminOnly, ...(actions.length > 0 && { states: statesOf(actions) }) };
}

/**
 * The compute API's documentation: descriptions, history, navigation, server states in which actions are allowed, and
 * code samples. Pass its properties to `explorer()` from `@apistrata/explorer`.
 *
 * @example
 * ```ts
 * import { computeApiReference } from '@apistrata/compute-router/reference';
 *
 * for (const { title } of computeApiReference.groups) console.log(title);
 * ```
 */
export const computeApiReference: ComputeApiReference = {
  description: computeApiDescription,
  history: computeApiHistory,
  commands: computeApiCommands,
  groups,
  tagAliases: { 'volumes-boot': 'servers' },
  facts: factsOf,
  samples: sdkSamples,
  valueSources: {
    imageRef: { path: '/images', version: '2.1' },
    flavorRef: { path: '/flavors' },
    volumeId: { path: '/os-volumes', version: '2.1' },
    key_name: { path: '/os-keypairs', field: 'name' },
  },
};
