import type { Server } from '@apistrata/compute-engine';
import type { ComputeCall } from '../../http/call.js';

/** Finds the server that a path names as `{id}`. */
export function serverById(call: ComputeCall & { readonly params: { readonly id: string } }): Promise<Server> {
  return call.engine.servers.get(call.context, call.params.id);
}

/**
 * Finds the server that a path names as `{server_id}`, including servers of other projects, for sub-resources that do not
 * hide them: the policy then denies a request with 403 instead of 404.
 */
export function anyParentServer(
  call: ComputeCall & { readonly params: { readonly server_id: string } },
): Promise<Server> {
  return call.engine.servers.get(call.context, call.params.server_id, { foreign: true });
}

/** Finds the server that a path names as `{server_id}`, the parent of a sub-resource. */
export function parentServer(call: ComputeCall & { readonly params: { readonly server_id: string } }): Promise<Server> {
  return call.engine.servers.get(call.context, call.params.server_id);
}
