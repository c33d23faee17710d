/** The configurable behavior of the engine. */
export interface Settings {
  /** Quotas of projects that have no quotas of their own; -1 means unlimited. */
  readonly quotas: Readonly<Record<QuotaKind, number>>;
  /** Seconds for which a soft-deleted server can be restored; 0 deletes servers immediately. */
  readonly reclaimSeconds: number;
  /** Seconds for which a shelved server stays on its host; 0 offloads it immediately, and -1 never. */
  readonly shelvedOffloadSeconds: number;
  /** Availability zone of hosts without a zone. */
  readonly defaultZone: string;
  /** Availability zone for servers that do not request one; null allows all zones. */
  readonly defaultScheduleZone: string | null;
  /** Whether create, rebuild, rescue and evacuate requests return the administrator password. */
  readonly enableInstancePassword: boolean;
  /** Seconds without a heartbeat after which a service counts as down. */
  readonly serviceDownSeconds: number;
  /**
   * Whether a server is evacuated only if it cannot end up running on two hosts, because its host fences machines,
   * shares its disks, or was forced down by an administrator, who thereby confirms that the host is off. Default:
   * false, as in Nova; servers are then evacuated from any host that is down.
   */
  readonly evacuateFencedOnly: boolean;
  /**
   * Whether servers that were running when their computer was powered off or restarted are started again. Otherwise,
   * they are shown as stopped. A server's metadata item `autostart` (`true` or `false`) takes precedence. Default:
   * false, as in Nova.
   */
  readonly resumeGuestsOnHostBoot: boolean;
  /** Seconds for which a console token is valid. */
  readonly consoleTokenSeconds: number;
  /** Base URL of the console proxy. */
  readonly consoleProxyUrl: string;
  /** Whether servers may attach volumes from other availability zones. */
  readonly crossZoneAttach: boolean;
  /** Maximum number of disks per server; -1 means unlimited. */
  readonly maxDiskDevices: number;
  /** Whether each host audits the usage of its servers every month. */
  readonly usageAudit: boolean;
  /** Days for which deleted servers and completed migrations are kept, with their history; 0 keeps them forever. */
  readonly retentionDays: number;
  /** Days for which actions of existing servers are kept; 0 keeps them forever. */
  readonly historyRetentionDays: number;
  /**
   * Days for which the usage of purged servers is kept. Reports on earlier periods are incomplete. 0 keeps usage
   * forever.
   */
  readonly usageRetentionDays: number;
}

/** All quota kinds, in display order. */
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

/** A resource that a quota limits, such as `cores`. */
export type QuotaKind = (typeof quotaKinds)[number];

/** The default settings. */
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
  evacuateFencedOnly: false,
  resumeGuestsOnHostBoot: false,
  consoleTokenSeconds: 600,
  consoleProxyUrl: 'http://127.0.0.1:6080',
  crossZoneAttach: true,
  maxDiskDevices: -1,
  usageAudit: false,
  retentionDays: 90,
  historyRetentionDays: 400,
  usageRetentionDays: 400,
};
