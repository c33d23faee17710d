export {
  type HeaderIdentityOptions,
  headerIdentity,
  type Identity,
  IdentityError,
  type IdentityOf,
} from './identity.js';
export { type ProjectQuotaRouter, projectQuotaRouter } from './project-quota-router.js';
export type { ProjectQuotaRouterOptions } from './router-options.js';
