import type { FloatingIp, SecurityGroup } from '@apistrata/catalogs';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, conflict, notFound } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import type { InterfaceRefresh } from './interface-refresh.js';

/** Changes security groups and floating IPs of servers in the network service, and updates the server records. */
export class ServerNetwork {
  readonly #core: Core;
  readonly #refresh: InterfaceRefresh;

  constructor(core: Core, refresh: InterfaceRefresh) {
    this.#core = core;
    this.#refresh = refresh;
  }

  /** Returns the security groups of all ports of a server. */
  async securityGroups({ caller }: Context, server: Server): Promise<readonly SecurityGroup[]> {
    const { networks } = this.#core.catalogs;
    const ports = await networks.listPorts(caller, { deviceIds: [server.id] });
    const ids = [...new Set(ports.flatMap((port) => port.securityGroups.map(({ id }) => id)))];
    return ids.length === 0 ? [] : networks.listSecurityGroups(caller, { ids });
  }

  /** Returns security groups by id, for rules that refer to them. */
  async groupsById({ caller }: Context, ids: readonly string[]): Promise<ReadonlyMap<string, SecurityGroup>> {
    if (ids.length === 0) return new Map();
    const groups = await this.#core.catalogs.networks.listSecurityGroups(caller, { ids });
    return new Map(groups.map((group) => [group.id, group]));
  }

  async addSecurityGroup({ caller }: Context, server: Server, nameOrId: string): Promise<void> {
    const { networks } = this.#core.catalogs;
    await networks.resolveSecurityGroups(caller, [nameOrId]);
    const ports = await networks.listPorts(caller, { deviceIds: [server.id] });
    if (ports.length === 0) throw notFound(`Instance ${server.id} has no ports that could be in a security group.`);
    await networks.addSecurityGroup(caller, server.id, nameOrId);
    await this.#refresh.now(server.id);
  }

  async removeSecurityGroup({ caller }: Context, server: Server, nameOrId: string): Promise<void> {
    await this.#core.catalogs.networks.removeSecurityGroup(caller, server.id, nameOrId);
    await this.#refresh.now(server.id);
  }

  /** Associates a floating IP with a fixed address of the server; default: its first IPv4 address. */
  async addFloatingIp({ caller }: Context, server: Server, address: string, fixedAddress?: string): Promise<void> {
    const { networks } = this.#core.catalogs;
    const allFixedIps = server.interfaces.flatMap(({ portId, fixedIps }) => fixedIps.map((ip) => ({ portId, ...ip })));
    if (server.interfaces.length === 0)
      throw badRequest('The instance has no interfaces to associate a floating IP with.');
    if (allFixedIps.length === 0) throw badRequest('The instance has no fixed IPs to associate a floating IP with.');
    const target = allFixedIps.find((ip) =>
      fixedAddress === undefined ? ip.version === 4 : ip.address === fixedAddress.toLowerCase(),
    );
    if (!target) throw badRequest('Specified fixed address is not assigned to the instance.');
    const floating = await this.#floatingIp(caller, address);
    await networks
      .associateFloatingIp(caller, floating.id, { portId: target.portId, fixedAddress: target.address })
      .catch((error) => {
        throw error?.code === 'FLOATING_IP_IN_USE' ? badRequest(error.message) : error;
      });
    await this.#refresh.now(server.id);
  }

  async removeFloatingIp({ caller }: Context, server: Server, address: string): Promise<void> {
    const floating = await this.#floatingIp(caller, address);
    if (floating.deviceId !== server.id)
      throw conflict(`Floating IP ${address} is not associated with instance ${server.id}.`);
    await this.#core.catalogs.networks.disassociateFloatingIp(caller, floating.id);
    await this.#refresh.now(server.id);
  }

  async #floatingIp(caller: Context['caller'], address: string): Promise<FloatingIp> {
    const [floatingIp] = await this.#core.catalogs.networks.listFloatingIps(caller, { address });
    if (!floatingIp) throw notFound('floating IP not found');
    return floatingIp;
  }
}
