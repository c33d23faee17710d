import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { Flavor } from '../../model/index.js';
import { tables } from '../../schema/tables.js';

/** Returns a flavor. Throws 400 if the caller cannot use it for a server. */
export async function findUsableFlavor({ store }: Core, { caller, isAdmin }: Context, id: string): Promise<Flavor> {
  const flavor = id.includes('\0') ? undefined : await tables.flavors.get(store, id);
  const isUsable =
    flavor && !flavor.disabled && (flavor.isPublic || isAdmin || flavor.projects.includes(caller.projectId));
  if (!isUsable) throw badRequest(`Flavor ${id} could not be found.`);
  return flavor;
}
