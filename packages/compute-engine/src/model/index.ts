export type * from './caller.js';
export type * from './history.js';
export type * from './infrastructure.js';
export type * from './resources.js';
export type * from './server.js';
export type * from './server-settings.js';
export type * from './stored.js';
