import { randomUUID } from 'node:crypto';
import { CatalogError, type Port } from '../../catalogs/index.js';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { badRequest, conflict, forbidden, notFound } from '../../errors.js';
import { checkTransition } from '../../lifecycle/transitions.js';
import type { ActionEvent, Server } from '../../model/index.js';
import { interfaceOf, type RequestedPort, withoutPort } from '../../ports/server-interface.js';
import { returnPort, takePort } from '../../ports/server-ports.js';
import type { InterfaceRefresh } from './interface-refresh.js';
import { SideActions } from './side-actions.js';

export interface NewInterface {
  readonly networkId?: string;
  readonly portId?: string;
  readonly address?: string;
  readonly tag?: string | null;
  /** Whether the caller may use networks that lead outside. */
  readonly toExternal: boolean;
  /** Whether ports that ask for bandwidth may be attached; false is the 400 of old versions. */
  readonly resourceRequests: boolean;
}

/** A port of a server, with what the server knows of it. */
export interface AttachedPort {
  readonly port: Port;
  readonly tag: string | null;
}

/** How long the machine may take to plug an interface in: the request waits for it. */
const PLUG_MS = 30_000;

/** What the catalog calls a conflict and this API a bad request. */
function asBadRequest(error: unknown): never {
  if (error instanceof CatalogError && error.code === 'NO_FREE_ADDRESS') throw badRequest(error.message);
  throw error;
}

/** Network interfaces of servers. */
export class Interfaces {
  readonly #core: Core;
  readonly #actions: SideActions;
  readonly #refresh: InterfaceRefresh;

  constructor(core: Core, refresh: InterfaceRefresh) {
    this.#core = core;
    this.#refresh = refresh;
    this.#actions = new SideActions(core);
  }

  async list({ caller }: Context, server: Server): Promise<readonly AttachedPort[]> {
    const ports = await this.#core.catalogs.networks.listPorts(caller, { deviceIds: [server.id] });
    return ports.map((port) => ({ port, tag: tagOf(server, port.id) }));
  }

  /** A port of another server is as unknown as one that does not exist. */
  async get({ caller }: Context, server: Server, portId: string): Promise<AttachedPort> {
    const port = await this.#core.catalogs.networks.getPort(caller, portId);
    if (port.deviceId !== server.id) throw notFound(`Instance ${server.id} does not have a port with id ${portId}`);
    return { port, tag: tagOf(server, portId) };
  }

  /** Plugs a port in, made for it or given. Resolves when the server has it. */
  async attach(context: Context, server: Server, wanted: NewInterface): Promise<AttachedPort> {
    checkTransition('attachInterface', server, context.isAdmin);
    const asked = await this.#plan(context, wanted);
    return this.#actions.guarded(context, server.id, 'attachInterface', { arguments: { ...asked } }, (guardId) =>
      this.#plug(context, server, asked, guardId),
    );
  }

  /** Begins to unplug a port. One that is not plugged in fails in the background. */
  async detach(context: Context, server: Server, portId: string): Promise<void> {
    await this.#actions.begin(context, server.id, 'detachInterface', { arguments: { portId } });
  }

  /** One more address of that network for the server. */
  async addFixedIp(context: Context, server: Server, networkId: string): Promise<void> {
    checkTransition('addFixedIp', server, context.isAdmin);
    await this.#core.catalogs.networks.addFixedIp(context.caller, server.id, networkId).catch(asBadRequest);
    await this.#refresh.now(server.id);
  }

  async removeFixedIp(context: Context, server: Server, address: string): Promise<void> {
    checkTransition('removeFixedIp', server, context.isAdmin);
    await this.#core.catalogs.networks.removeFixedIp(context.caller, server.id, address).catch((error) => {
      if (error instanceof CatalogError && error.code === 'ADDRESS_NOT_FOUND')
        throw badRequest(`Fixed IP address ${address} not found on instance ${server.id}.`);
      throw error;
    });
    await this.#refresh.now(server.id);
  }

  async #plug(context: Context, server: Server, asked: RequestedPort, guardId: string): Promise<AttachedPort> {
    const begun = this.#core.clock.now();
    try {
      const port = await takePort({ core: this.#core, server, context }, asked).catch(asBadRequest);
      const made = interfaceOf(port, asked.tag, !asked.existing);
      await this.#core.driver.perform(
        { verb: 'attach_interface', interface: made },
        server,
        AbortSignal.timeout(PLUG_MS),
        { action: 'attachInterface', requestId: context.requestId },
      );
      await this.#actions.complete(
        context,
        server.id,
        'attachInterface',
        guardId,
        [this.#event(server, begun)],
        async (_tx, current) => ({ interfaces: [...withoutPort(current.interfaces, port.id), made] }),
      );
      return { port, tag: asked.tag };
    } catch (error) {
      await this.#giveBack(context, server, asked, guardId);
      throw error;
    }
  }

  /** The port or network that is meant, with everything that can be refused beforehand. */
  async #plan({ caller }: Context, wanted: NewInterface): Promise<RequestedPort> {
    const { networks } = this.#core.catalogs;
    const tag = wanted.tag ?? null;
    if (wanted.portId) {
      const port = await networks.getPort(caller, wanted.portId);
      if (port.deviceId) throw conflict(`Port ${port.id} is still in use.`);
      if (port.hasResourceRequest && !wanted.resourceRequests)
        throw badRequest(`Attaching interfaces with QoS policy is not supported: port ${port.id} asks for resources.`);
      return { portId: port.id, existing: true, networkId: port.networkId, tag };
    }
    const addresses = wanted.address === undefined ? undefined : [wanted.address];
    const networkId = wanted.networkId ?? (await this.#onlyNetwork(caller));
    const network = await networks.getNetwork(caller, networkId);
    if (network.external && !wanted.toExternal)
      throw forbidden(`It is not allowed to create an interface on external network ${networkId}`);
    await networks.checkAddresses(caller, networkId, addresses).catch(asBadRequest);
    return { portId: randomUUID(), existing: false, networkId, addresses, tag };
  }

  async #onlyNetwork(caller: Context['caller']): Promise<string> {
    const available = await this.#core.catalogs.networks.availableNetworks(caller);
    if (available.length === 0) throw badRequest('No network was given and none is available.');
    if (available.length > 1)
      throw badRequest('Multiple possible networks found, use a Network ID to be more specific.');
    return available[0]!.id;
  }

  /** Undoes at once what the guard would undo later; what cannot be undone now is left to it. */
  async #giveBack(context: Context, server: Server, asked: RequestedPort, guardId: string): Promise<void> {
    await returnPort({ core: this.#core, server, context }, asked);
    await this.#actions.abandon(server.id, guardId, async (_tx, { interfaces }) => ({
      interfaces: withoutPort(interfaces, asked.portId),
    }));
  }

  #event(server: Server, startTime: number): ActionEvent {
    const finishTime = this.#core.clock.now();
    const none = { traceback: null, details: null };
    return { name: 'compute_attach_interface', startTime, finishTime, result: 'Success', host: server.host, ...none };
  }
}

function tagOf(server: Server, id: string): string | null {
  return server.interfaces.find(({ portId }) => portId === id)?.tag ?? null;
}
