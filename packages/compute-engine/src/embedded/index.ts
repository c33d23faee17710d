export type { EmbeddedCatalogs } from './embedded-catalogs.js';
export type { EmbeddedOptions, UnknownIds } from './embedded-options.js';
export * from './images/embedded-images.js';
export type { ImageMember, ImageRecord, MemberStatus } from './images/image-tables.js';
export * from './networks/embedded-networks.js';
export type { FloatingIpView, NewFloatingIp } from './networks/floating-ips.js';
export type { NetworkSeed } from './networks/network-seed.js';
export type {
  AddressRange,
  NetworkRecord,
  RouterRecord,
  SecurityGroupRecord,
  SecurityGroupRuleRecord,
  SubnetRecord,
} from './networks/network-tables.js';
export type { FixedIpRequest, PortSpec, PortView } from './networks/port-records.js';
export type { FullPortQuery, PortChange } from './networks/ports.js';
export type { RouterFields, RouterInterface } from './networks/routers.js';
export type { NewSubnet, SubnetChange, SubnetQuery } from './networks/subnets.js';
export type { NetworkFields } from './networks/topology.js';
export * from './shares/embedded-shares.js';
export * from './volumes/embedded-volumes.js';
export type { VolumeView } from './volumes/volume-context.js';
export type { VolumeSeed } from './volumes/volume-seed.js';
export type { AttachmentRecord, SnapshotRecord, VolumeTypeRecord } from './volumes/volume-tables.js';
export type { VolumeTypeFields } from './volumes/volume-types.js';
