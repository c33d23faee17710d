/** Cinder's extensions that this service supports, as `/extensions` lists them. */
const NAMES_AND_DESCRIPTIONS: readonly (readonly [
  name: string,
  alias: string,
  updated: string,
  description: string,
])[] = [
  ['AdminActions', 'os-admin-actions', '2012-08-25T00:00:00+00:00', 'Administrator actions.'],
  ['Capabilities', 'capabilities', '2015-08-31T00:00:00+00:00', 'Backend capabilities.'],
  ['ExtendedServices', 'os-extended-services', '2014-01-10T00:00:00-00:00', 'Reasons why services are disabled.'],
  [
    'ExtendedSnapshotAttributes',
    'os-extended-snapshot-attributes',
    '2012-06-19T00:00:00+00:00',
    'Project and progress of snapshots.',
  ],
  ['Hosts', 'os-hosts', '2011-06-29T00:00:00+00:00', 'Hosts and their usage.'],
  ['Qos_specs_manage', 'qos-specs', '2013-08-02T00:00:00+00:00', 'Quality of service of volume types.'],
  ['QuotaClasses', 'os-quota-class-sets', '2012-03-12T00:00:00+00:00', 'Default quotas.'],
  ['Quotas', 'os-quota-sets', '2011-08-08T00:00:00+00:00', 'Quotas of projects.'],
  ['SchedulerHints', 'OS-SCH-HNT', '2013-04-18T00:00:00+00:00', 'Hints for the scheduler.'],
  ['Scheduler_stats', 'scheduler-stats', '2014-09-07T00:00:00+00:00', 'Storage pools, as reported to the scheduler.'],
  ['Services', 'os-services', '2012-10-28T00:00:00-00:00', 'Services and their state.'],
  ['SnapshotActions', 'os-snapshot-actions', '2013-07-16T00:00:00+00:00', 'Status reports about snapshots.'],
  ['TypesExtraSpecs', 'os-types-extra-specs', '2011-08-24T00:00:00+00:00', 'Extra specs of volume types.'],
  ['TypesManage', 'os-types-manage', '2011-08-24T00:00:00+00:00', 'Management of volume types.'],
  ['VolumeActions', 'os-volume-actions', '2012-05-31T00:00:00+00:00', 'Actions on volumes.'],
  ['VolumeHostAttribute', 'os-vol-host-attr', '2011-11-03T00:00:00+00:00', 'Host of a volume.'],
  ['VolumeImageMetadata', 'os-vol-image-meta', '2012-12-07T00:00:00+00:00', 'Image metadata of a volume.'],
  ['VolumeMigStatusAttribute', 'os-vol-mig-status-attr', '2013-08-08T00:00:00+00:00', 'Migration of a volume.'],
  ['VolumeTenantAttribute', 'os-vol-tenant-attr', '2011-11-03T00:00:00+00:00', 'Project of a volume.'],
  ['VolumeTransfer', 'os-volume-transfer', '2013-05-29T00:00:00+00:00', 'Transfers between projects.'],
  ['VolumeTypeAccess', 'os-volume-type-access', '2014-06-26T00:00:00Z', 'Access to private volume types.'],
  ['VolumeTypeEncryption', 'encryption', '2013-07-01T00:00:00+00:00', 'Encryption of volume types.'],
  ['VolumeUnmanage', 'os-volume-unmanage', '2012-05-31T00:00:00+00:00', 'Removal of volumes from management.'],
];

export const EXTENSIONS = NAMES_AND_DESCRIPTIONS.map(([name, alias, updated, description]) => ({
  name,
  alias,
  updated,
  description,
  links: [],
}));
