export type { New, Stored } from '../store/document-table.js';
export type * from './caller.js';
export type * from './history.js';
export type * from './infrastructure.js';
export type * from './resources.js';
export type * from './server.js';
