import type { ImageCatalog } from './images/catalog.js';
import type { NetworkCatalog } from './networks/catalog.js';
import type { ShareCatalog } from './shares/catalog.js';
import type { VolumeCatalog } from './volumes/catalog.js';

export * from './catalog-error.js';
export type { EmbeddedOptions, UnknownIds } from './embedded-options.js';
export * from './http/index.js';
export type * from './images/catalog.js';
export * from './images/embedded-images.js';
export type { ImageMember, ImageRecord, MemberStatus } from './images/image-tables.js';
export type * from './networks/catalog.js';
export * from './networks/embedded-networks.js';
export type { FloatingIpView, NewFloatingIp } from './networks/floating-ips.js';
export { type Cidr, formatCidr, parseCidr, parseIp } from './networks/ip-address.js';
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
export type * from './shares/catalog.js';
export * from './shares/embedded-shares.js';
export type * from './volumes/catalog.js';
export * from './volumes/embedded-volumes.js';
export type { VolumeView } from './volumes/volume-context.js';
export type { VolumeSeed } from './volumes/volume-seed.js';
export type { AttachmentRecord, SnapshotRecord, VolumeTypeRecord } from './volumes/volume-tables.js';
export type { VolumeTypeFields } from './volumes/volume-types.js';

/** What the engine knows of the other services. Each may be embedded or remote. */
export interface Catalogs {
  readonly images: ImageCatalog;
  readonly networks: NetworkCatalog;
  readonly volumes: VolumeCatalog;
  readonly shares: ShareCatalog;
}
