import type { Server } from '@apistrata/compute-engine';
import type { ComputeCall } from '../../http/call.js';

/** Loads the server with the id in the path parameter `{id}`. */
export function serverById(call: ComputeCall & { readonly params: { readonly id: string } }): Promise<Server> {
  return call.engine.servers.get(call.context, call.params.id);
}

/**
 * Loads the server with the id in the path parameter `{server_id}`, even if it belongs to another project. Requests for
 * some sub-resources of such a server fail with 403 (because of the policy) rather than with 404.
 */
export function anyParentServer(
  call: ComputeCall & { readonly params: { readonly server_id: string } },
): Promise<Server> {
  return call.engine.servers.get(call.context, call.params.server_id, { foreign: true });
}

/** Loads the parent server of a sub-resource. The path parameter `{server_id}` contains the server's id. */
export function parentServer(call: ComputeCall & { readonly params: { readonly server_id: string } }): Promise<Server> {
  return call.engine.servers.get(call.context, call.params.server_id);
}
