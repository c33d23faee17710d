export { checkOptions } from './check-options.js';
export { type DatabaseSettings, type Durability, defaultDatabaseSettings } from './database-settings.js';
