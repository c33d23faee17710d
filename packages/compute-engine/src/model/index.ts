export type * from '../catalogs/caller.js';
export type * from '../catalogs/fixed-ip.js';
export type * from '../store/stored.js';
export type * from './history.js';
export type * from './infrastructure.js';
export type * from './resources.js';
export type * from './server.js';
export type * from './server-settings.js';
