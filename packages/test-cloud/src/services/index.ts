export { type Environment, environment } from '../environment.js';
export { openServices, type Services, type ServicesOptions } from './open-services.js';
