import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import type { Directory } from './directory.js';

/** Returns the caller of a token. */
function callerOf(directory: Directory, tokenId: unknown): Caller | undefined {
  const token = typeof tokenId === 'string' ? directory.token(tokenId) : undefined;
  if (!token) return undefined;
  const { state } = directory;
  const user = state.users.get(token.userId);
  const project = token.scope?.kind === 'project' ? state.projects.get(token.scope.id) : undefined;
  const roles = token.roleIds.flatMap((id) => state.roles.get(id)?.name ?? []);
  return {
    userId: token.userId,
    userName: user?.name,
    userDomainId: user?.domain_id,
    projectId: project?.id ?? '',
    projectName: project?.name,
    projectDomainId: project?.domain_id,
    systemScope: token.scope?.kind === 'system',
    roles,
    // Used by the services of this cloud; the compute API evaluates its own policies.
    isAdmin: roles.includes('admin'),
    token: token.id,
  };
}

/**
 * Returns a function that identifies the caller by `X-Auth-Token` and, for requests that a service forwards,
 * `X-Service-Token`.
 */
export function identifyCaller(directory: Directory) {
  return function identityOf(req: IncomingMessage): Caller | undefined {
    const caller = callerOf(directory, req.headers['x-auth-token']);
    const serviceToken = req.headers['x-service-token'];
    if (!caller || serviceToken === undefined) return caller;
    const service = callerOf(directory, serviceToken);
    return service && { ...caller, serviceRoles: service.roles };
  };
}
