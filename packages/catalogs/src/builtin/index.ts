export type {
  DocumentChange,
  DocumentSeal,
  OpenDocuments,
  ServiceDocument,
  ServiceDocuments,
} from '../documents/service-documents.js';
export { serviceDocuments } from '../documents/service-documents.js';
export type { EmbeddedImageCatalog } from '../image/builtin/embedded-images.js';
export { embeddedImages } from '../image/builtin/embedded-images.js';
export type { ImageSeed } from '../image/builtin/image-seed.js';
export type { ImageMember, ImageRecord, MemberStatus } from '../image/builtin/image-tables.js';
export type { EmbeddedNetworkCatalog } from '../network/builtin/embedded-networks.js';
export { embeddedNetworks } from '../network/builtin/embedded-networks.js';
export type { FloatingIpView } from '../network/builtin/floating-ips.js';
export { type HostTunnel, lowerMtuForTunnels as fitIntoTunnels } from '../network/builtin/network-mtu.js';
export type {
  NetworkSeed,
  NetworksSeed,
  RuleSeed,
  SecurityGroupSeed,
  SubnetSeed,
} from '../network/builtin/network-seed.js';
export type {
  AddressRange,
  NetworkRecord,
  RouterRecord,
  SecurityGroupRecord,
  SubnetRecord,
} from '../network/builtin/network-tables.js';
export type { FixedIpRequest, PortView } from '../network/builtin/port-records.js';
export type { PortChange } from '../network/builtin/ports.js';
export type { RouterFields } from '../network/builtin/routers.js';
export type { SecurityGroupView } from '../network/builtin/security-groups.js';
export type { NewSubnet, SubnetChange } from '../network/builtin/subnets.js';
export type { NetworkFields } from '../network/builtin/topology.js';
export { catalogChanges } from '../schema/catalog-changes.js';
export type { EmbeddedShareCatalog, ShareRecord, ShareSeed } from '../share/builtin/embedded-shares.js';
export { embeddedShares } from '../share/builtin/embedded-shares.js';
export type { EmbeddedVolumeCatalog } from '../volume/builtin/embedded-volumes.js';
export { embeddedVolumes } from '../volume/builtin/embedded-volumes.js';
export type { VolumeView } from '../volume/builtin/volume-context.js';
export type { VolumeSeed, VolumesSeed, VolumeTypeSeed } from '../volume/builtin/volume-seed.js';
export type { AttachmentRecord, SnapshotRecord, VolumeTypeRecord } from '../volume/builtin/volume-tables.js';
export { derivedUuid } from './derived-uuid.js';
export type { EmbeddedCatalogs } from './embedded-catalogs.js';
export { type EmbeddedCatalogsOptions, embeddedCatalogs } from './embedded-catalogs.js';
export type { CatalogClock, EmbeddedOptions, UnknownIdPolicy } from './embedded-options.js';
