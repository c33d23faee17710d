import type { Call } from '../service/call.js';
import { forbidden } from '../service/service-error.js';
import type { Token } from './identity-records.js';

/** Returns a 403 error for an action that the caller is not allowed to perform. */
export const forbiddenAction = (action: string) =>
  forbidden(`You are not authorized to perform the requested action: ${action}.`);

/** Returns the caller's token; undefined if the request has no valid token. */
export function callerToken({ caller, cloud }: Call): Token | undefined {
  return caller.token === undefined ? undefined : cloud.directory.token(caller.token);
}

/** Returns the domain to which the caller's token is scoped; undefined for other scopes. */
export function tokenDomain(call: Call): string | undefined {
  const scope = callerToken(call)?.scope;
  return scope?.kind === 'domain' ? scope.id : undefined;
}

/** Returns whether the caller's token was issued for a trust, an OAuth token or an application credential. */
export function hasDelegatedToken(call: Call): boolean {
  const token = callerToken(call);
  return !!(token?.trustId || token?.accessTokenId || token?.applicationCredentialId);
}

/** Rejects trust tokens and OAuth tokens, because resources created with such a token would outlive the delegation. */
export function rejectTrustAndOAuthTokens(call: Call, what: string): void {
  const token = callerToken(call);
  if (token?.trustId || token?.accessTokenId)
    throw forbidden(`Cannot manage ${what} with a token issued via delegation.`);
}

/** Rejects application credential tokens, unless the credential is unrestricted and `allowUnrestricted` is true. */
export function rejectApplicationCredentials(call: Call, what: string, allowUnrestricted = true): void {
  const id = callerToken(call)?.applicationCredentialId;
  if (!id) return;
  if (allowUnrestricted && call.cloud.directory.state.credentials.get(id)?.unrestricted) return;
  throw forbiddenAction(`Using method 'application_credential' is not allowed for managing ${what}.`);
}

/** Rejects a delegated token if the secret belongs to a project outside the token's scope. */
export function checkProjectOfSecret(call: Call, projectId: unknown, message: string): void {
  if (hasDelegatedToken(call) && projectId !== call.caller.projectId) throw forbiddenAction(message);
}
