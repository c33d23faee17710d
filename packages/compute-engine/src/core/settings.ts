/** Everything about the engine's behaviour that an operator may choose. */
export interface Settings {
  /** Limits of projects that have none of their own; -1 is unlimited. */
  readonly quotas: Readonly<Record<QuotaKind, number>>;
  /** How long a soft-deleted server can be restored; 0 deletes at once. */
  readonly reclaimSeconds: number;
  /** How long a shelved server keeps its host; 0 offloads at once, -1 never. */
  readonly shelvedOffloadSeconds: number;
  /** Zone of hosts that are in no zone. */
  readonly defaultZone: string;
  /** Zone for servers that ask for none; null lets them go anywhere. */
  readonly defaultScheduleZone: string | null;
  /** Whether create, rebuild, rescue and evacuate tell the administrator password. */
  readonly enableInstancePassword: boolean;
  /** A service without a sign of life for longer is down. */
  readonly serviceDownSeconds: number;
  readonly consoleTokenSeconds: number;
  /** Base address of the console proxy. */
  readonly consoleProxyUrl: string;
  /** Whether volumes of other zones may be attached. */
  readonly crossZoneAttach: boolean;
  /** Disks that a server may have at the most; -1 is unlimited. */
  readonly maxDiskDevices: number;
  /** Whether hosts audit, month by month, what servers use. */
  readonly usageAudit: boolean;
  /** How long deleted servers and migrations that ended are kept, with all that is told of them; 0: for ever. */
  readonly retentionDays: number;
  /** How long actions of servers that exist are kept; 0: for ever. */
  readonly historyRetentionDays: number;
  /** How long it is known what purged servers used. Reports on periods before are not complete. 0: for ever. */
  readonly usageRetentionDays: number;
}

/** All kinds of limits, in the order in which they are shown. */
export const quotaKinds = [
  'instances',
  'cores',
  'ram',
  'key_pairs',
  'server_groups',
  'server_group_members',
  'metadata_items',
  'injected_files',
  'injected_file_content_bytes',
  'injected_file_path_bytes',
  'fixed_ips',
  'floating_ips',
  'security_groups',
  'security_group_rules',
] as const;

/** What is limited for each project. */
export type QuotaKind = (typeof quotaKinds)[number];

/** The settings where nothing else is said. */
export const defaultSettings: Settings = {
  quotas: {
    instances: 10,
    cores: 20,
    ram: 51200,
    key_pairs: 100,
    server_groups: 10,
    server_group_members: 10,
    metadata_items: 128,
    injected_files: 5,
    injected_file_content_bytes: 10240,
    injected_file_path_bytes: 255,
    fixed_ips: -1,
    floating_ips: -1,
    security_groups: -1,
    security_group_rules: -1,
  },
  reclaimSeconds: 0,
  shelvedOffloadSeconds: 0,
  defaultZone: 'nova',
  defaultScheduleZone: null,
  enableInstancePassword: true,
  serviceDownSeconds: 60,
  consoleTokenSeconds: 600,
  consoleProxyUrl: 'http://127.0.0.1:6080',
  crossZoneAttach: true,
  maxDiskDevices: -1,
  usageAudit: false,
  retentionDays: 90,
  historyRetentionDays: 400,
  usageRetentionDays: 400,
};
