export type { Identity } from './identity.js';
export { type IdentityLookup, type IdentityServiceOptions, identityService } from './identity-service.js';
export { IdentityUnavailable } from './identity-unavailable.js';
export { type NoauthOptions, noauth } from './noauth.js';
export { staticTokens } from './static-tokens.js';
export { sendUnauthorized } from './unauthorized.js';
