import { STATUS_CODES } from 'node:http';
import { defineService } from '../service/fake-service.js';
import { Resource } from '../service/resource.js';
import { resourceRoutes } from '../service/resource-routes.js';
import type { Route } from '../service/route.js';
import { applicationCredentialRoutes } from './application-credential-routes.js';
import { assignmentRoutes } from './assignment-routes.js';
import { authRoutes } from './auth-routes.js';
import { catalogResources } from './catalog-resources.js';
import { credentialResources } from './credential-resources.js';
import { domains, groups, projects, roles, users } from './directory-resources.js';
import { domainConfigRoutes } from './domain-config-routes.js';
import { endpointFilterRoutes } from './endpoint-filter-routes.js';
import { endpointPolicyRoutes } from './endpoint-policy-routes.js';
import { extensionResources } from './extension-resources.js';
import { federationResources } from './federation-resources.js';
import { identityStyle } from './identity-style.js';
import { oauthRoutes } from './oauth-routes.js';
import { s3TokenRoutes } from './s3-token-routes.js';
import { trusts } from './trust-resource.js';
import { versionRoutes } from './version-routes.js';

const RESOURCES = [
  domains,
  projects,
  users,
  groups,
  roles,
  ...catalogResources,
  ...credentialResources,
  trusts,
  ...federationResources,
  ...extensionResources,
];

/** Returns the routes of the identity service. */
export const identityRoutes = (): readonly Route[] => [
  ...versionRoutes(),
  ...authRoutes(),
  ...assignmentRoutes(),
  ...applicationCredentialRoutes(),
  ...endpointFilterRoutes(),
  ...domainConfigRoutes(),
  ...endpointPolicyRoutes(),
  ...s3TokenRoutes(),
  ...oauthRoutes(),
  ...RESOURCES.flatMap((spec) => resourceRoutes(new Resource(identityStyle, spec))),
];

/** The identity service, version 3. */
export const identityService = defineService({
  name: 'identity',
  types: ['identity'],
  routes: identityRoutes,
  rejectsMethods: true,
  fault: ({ status, message }) => ({ error: { code: status, message, title: STATUS_CODES[status] } }),
});
