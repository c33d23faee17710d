import type { Call } from '../service/call.js';
import { forbidden } from '../service/service-error.js';
import type { Token } from './identity-records.js';

/** Creates the error of an action that the caller may not perform. */
export const forbiddenAction = (action: string) =>
  forbidden(`You are not authorized to perform the requested action: ${action}.`);

/** Returns the token of the caller. */
export function tokenOf({ caller, cloud }: Call): Token | undefined {
  return caller.token === undefined ? undefined : cloud.directory.token(caller.token);
}

/** Returns the domain that is the scope of the caller's token. */
export function domainOfToken(call: Call): string | undefined {
  const scope = tokenOf(call)?.scope;
  return scope?.kind === 'domain' ? scope.id : undefined;
}

/** Returns whether the caller's token acts for a user by a trust, an OAuth token or an application credential. */
export function isDelegated(call: Call): boolean {
  const token = tokenOf(call);
  return !!(token?.trustId || token?.accessTokenId || token?.applicationCredentialId);
}

/** Rejects tokens of trusts and OAuth tokens: resources that are created with them would outlive the delegation. */
export function rejectTrusted(call: Call, what: string): void {
  const token = tokenOf(call);
  if (token?.trustId || token?.accessTokenId)
    throw forbidden(`Cannot manage ${what} with a token issued via delegation.`);
}

/** Rejects tokens of application credentials, except unrestricted ones if these are allowed. */
export function rejectApplicationCredentials(call: Call, what: string, allowUnrestricted = true): void {
  const id = tokenOf(call)?.applicationCredentialId;
  if (!id) return;
  if (allowUnrestricted && call.cloud.directory.state.credentials.get(id)?.unrestricted) return;
  throw forbiddenAction(`Using method 'application_credential' is not allowed for managing ${what}.`);
}

/** Rejects delegated tokens for secrets of other projects. */
export function checkProjectOfSecret(call: Call, projectId: unknown, message: string): void {
  if (isDelegated(call) && projectId !== call.caller.projectId) throw forbiddenAction(message);
}
