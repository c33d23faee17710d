export type * from '../embedded/index.js';
export { CatalogError, type CatalogErrorCode, type CatalogErrorKind } from './catalog-error.js';
export type * from './catalogs.js';
export * from './http/index.js';
export type * from './image-catalog.js';
export { type Cidr, cidrOf, formatCidr, ipOf, parseCidr, parseIp } from './ip-address.js';
export type * from './network-catalog.js';
export type * from './share-catalog.js';
export type * from './volume-catalog.js';
