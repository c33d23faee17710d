export * from '../image/http/http-images.js';
export * from '../network/http/http-networks.js';
export * from '../volume/http/http-volumes.js';
export { type IdentityLimits, IdentityRequests } from './identity-requests.js';
export type { HttpCatalogOptions } from './service-client.js';
export * from './service-session.js';
