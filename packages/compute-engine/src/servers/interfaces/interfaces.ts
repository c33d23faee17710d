import { CatalogError } from '@apistrata/catalogs';
import { rulesOf } from '../../actions/action-table.js';
import type { AttachedPort } from '../../actions/interfaces/attach-interface.js';
import { checkAction } from '../../actions/runner/check-action.js';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, notFound } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import { throwAddressError } from './address-rejection.js';
import type { InterfaceRefresh } from './interface-refresh.js';

/**
 * Reads the network interfaces of servers, and changes their addresses. The actions `attachInterface` and
 * `detachInterface` add and remove interfaces.
 */
export class Interfaces {
  readonly #core: Core;
  readonly #refresh: InterfaceRefresh;

  constructor(core: Core, refresh: InterfaceRefresh) {
    this.#core = core;
    this.#refresh = refresh;
  }

  async list({ caller }: Context, server: Server): Promise<readonly AttachedPort[]> {
    const ports = await this.#core.catalogs.networks.listPorts(caller, { deviceIds: [server.id] });
    return ports.map((port) => ({ port, tag: tagOf(server, port.id) }));
  }

  /** Returns a port of a server. Throws 404 if the port does not belong to the server. */
  async get({ caller }: Context, server: Server, portId: string): Promise<AttachedPort> {
    const port = await this.#core.catalogs.networks.getPort(caller, portId);
    if (port.deviceId !== server.id) throw notFound(`Instance ${server.id} does not have a port with id ${portId}`);
    return { port, tag: tagOf(server, portId) };
  }

  /** Adds a fixed IP address from a network to a server. */
  async addFixedIp(context: Context, server: Server, networkId: string): Promise<void> {
    checkAction(rulesOf('addFixedIp'), server, context.isAdmin);
    await this.#core.catalogs.networks.addFixedIp(context.caller, server.id, networkId).catch(throwAddressError);
    await this.#refresh.now(server.id);
  }

  async removeFixedIp(context: Context, server: Server, address: string): Promise<void> {
    checkAction(rulesOf('removeFixedIp'), server, context.isAdmin);
    await this.#core.catalogs.networks.removeFixedIp(context.caller, server.id, address).catch((error) => {
      if (error instanceof CatalogError && error.code === 'ADDRESS_NOT_FOUND')
        throw badRequest(`Fixed IP address ${address} not found on instance ${server.id}.`);
      throw error;
    });
    await this.#refresh.now(server.id);
  }
}

function tagOf(server: Server, id: string): string | null {
  return server.interfaces.find(({ portId }) => portId === id)?.tag ?? null;
}
