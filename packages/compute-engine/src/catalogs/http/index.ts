export { AnswerTooLarge, boundedText } from './bounded-text.js';
export * from './http-images.js';
export * from './http-networks.js';
export * from './http-volumes.js';
export type { HttpCatalogOptions } from './service-client.js';
export * from './service-session.js';
