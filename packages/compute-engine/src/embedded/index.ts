export type { EmbeddedCatalogs } from './embedded-catalogs.js';
export type { UnknownIds } from './embedded-options.js';
export type { EmbeddedImageCatalog } from './images/embedded-images.js';
export type { ImageMember, ImageRecord, MemberStatus } from './images/image-tables.js';
export type { EmbeddedNetworkCatalog } from './networks/embedded-networks.js';
export type { FloatingIpView } from './networks/floating-ips.js';
export type {
  AddressRange,
  NetworkRecord,
  RouterRecord,
  SecurityGroupRecord,
  SubnetRecord,
} from './networks/network-tables.js';
export type { FixedIpRequest, PortView } from './networks/port-records.js';
export type { PortChange } from './networks/ports.js';
export type { RouterFields } from './networks/routers.js';
export type { SecurityGroupView } from './networks/security-groups.js';
export type { NewSubnet, SubnetChange } from './networks/subnets.js';
export type { NetworkFields } from './networks/topology.js';
export type { EmbeddedShareCatalog, ShareRecord } from './shares/embedded-shares.js';
export type { EmbeddedVolumeCatalog } from './volumes/embedded-volumes.js';
export type { VolumeView } from './volumes/volume-context.js';
export type { AttachmentRecord, SnapshotRecord, VolumeTypeRecord } from './volumes/volume-tables.js';
