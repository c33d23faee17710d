export { type Environment, environment } from '../environment.js';
export type { Lockout } from '../identity/lockout.js';
export { openServices, type Services, type ServicesOptions } from './open-services.js';
