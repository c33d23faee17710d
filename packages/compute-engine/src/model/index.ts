export type { Caller, FixedIp } from '@apistrata/catalogs';
export type { New, Stored } from '@apistrata/record-store';
export type * from './history.js';
export type * from './host-report.js';
export type * from './infrastructure.js';
export type * from './resources.js';
export type * from './server.js';
export type * from './server-settings.js';
