export * from './http-images.js';
export * from './http-networks.js';
export * from './http-volumes.js';
export { type IdentityLimits, IdentityRequests } from './identity-requests.js';
export type { HttpCatalogOptions } from './service-client.js';
export * from './service-session.js';
