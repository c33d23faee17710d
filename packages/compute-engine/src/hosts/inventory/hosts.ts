import type { Core } from '../../core/core.js';
import { groupBy } from '../../core/group-by.js';
import type { HostPowerAction } from '../../drivers/driver.js';
import { badRequest, notFound, notSupported } from '../../errors/rejection.js';
import type { Inventory, Server } from '../../model/index.js';
import { amountsByClass } from '../../scheduler/amounts.js';
import { usageByHost } from '../../scheduler/claims.js';
import { readCountsByHost } from '../../scheduler/host-counts.js';
import type { Host, HostMap } from '../../scheduler/infrastructure.js';
import { LIVE_SERVERS, tables } from '../../schema/tables.js';
import { type ServiceState, Services } from './services.js';

/** Total, claimed or used capacity of a host. Memory is in MiB, disk in GiB. */
export interface HostUsageRow {
  /** What the figures cover: `(total)`, `(used_now)`, `(used_max)`, or a project id. */
  readonly project: string;
  readonly cpu: number;
  readonly memoryMb: number;
  readonly diskGb: number;
}

/** The inventories and traits of a host. */
export interface HostOffer {
  /** All inventories of the host, by resource class. */
  readonly inventories?: Readonly<Record<string, Inventory>>;
  /** All traits of the host. */
  readonly traits?: readonly string[];
}

/** The hosts in the deprecated hosts API. Use services and hypervisors instead. */
export class Hosts {
  readonly #core: Core;
  readonly #services: Services;

  constructor(core: Core) {
    this.#core = core;
    this.#services = new Services(core);
  }

  /** Returns all hosts with their zones and states. Returns the same object until a host changes. */
  map(): Promise<HostMap> {
    return this.#core.infrastructure.hosts();
  }

  /** Returns the enabled services with their hosts, oldest first. */
  async list(query: { readonly zone?: string } = {}): Promise<readonly ServiceState[]> {
    const allServices = await this.#services.list();
    return allServices.filter(
      ({ service, zone }) => !service.disabled && (query.zone === undefined || query.zone === zone),
    );
  }

  /** Returns the total capacity, current usage and maximum usage of a compute host, and the usage of each project. */
  async shares(name: string): Promise<readonly HostUsageRow[]> {
    const { node } = await this.#find(name);
    const { store } = this.#core;
    const usage = (await usageByHost(store)).get(name);
    const servers = await tables.servers.find(store, (q) => q.where('host', '=', name).where(LIVE_SERVERS));
    const sumServers = (project: string, counted: readonly Server[]): HostUsageRow => ({
      project,
      cpu: counted.reduce((sum, { flavor }) => sum + flavor.vcpus, 0),
      memoryMb: counted.reduce((sum, { flavor }) => sum + flavor.memoryMb, 0),
      diskGb: counted.reduce((sum, { flavor }) => sum + flavor.diskGb + flavor.ephemeralGb, 0),
    });
    return [
      { project: '(total)', cpu: node.vcpus, memoryMb: node.memoryMb, diskGb: node.localGb },
      {
        project: '(used_now)',
        cpu: usage?.vcpus ?? 0,
        memoryMb: usage?.memoryMb ?? 0,
        diskGb: usage?.diskGb ?? 0,
      },
      sumServers('(used_max)', servers),
      ...[...groupBy(servers, ({ projectId }) => projectId)].map(([id, projectServers]) =>
        sumServers(id, projectServers),
      ),
    ];
  }

  /** Returns the claims of all servers on a host, summed by resource class; empty for an unknown host. */
  async allocations(name: string): Promise<Readonly<Record<string, number>>> {
    const count = (await readCountsByHost(this.#core.store)).get(name);
    return count ? Object.fromEntries(amountsByClass(count)) : {};
  }

  /**
   * Replaces the scheduler's data about the capacity and traits of a host; omitted parts stay unchanged. A host process
   * overwrites this data with its own when it starts. Throws a 404 error for an unknown host.
   */
  async setOffer(name: string, { inventories, traits }: HostOffer): Promise<void> {
    const { store, infrastructure } = this.#core;
    await this.#find(name);
    const removedInventories = { VCPU: null, MEMORY_MB: null, DISK_GB: null };
    const change = {
      ...(inventories && { inventories: { ...removedInventories, ...inventories } }),
      ...(traits && { traits }),
    };
    await store.transaction(async (tx) => {
      const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', name));
      if (node) await tables.nodes.update(tx, { ...node, ...change });
      infrastructure.invalidateAfterCommit(tx);
    });
  }

  /** Allows or prevents scheduling of new servers on a host. Throws a 400 error if the host is down. */
  async setEnabled(name: string, enabled: boolean): Promise<void> {
    const { service } = await this.#findUpHost(name);
    await this.#services.update(service.id, { disabled: !enabled, disabledReason: null });
  }

  /**
   * Starts or ends the maintenance of a host. Throws a 400 error if it is down, and 501 if the driver does not support
   * maintenance.
   */
  async setMaintenance(name: string, on: boolean): Promise<void> {
    await this.#findUpHost(name);
    if (!(await this.#core.machines.hostMaintenance(name, on)))
      throw notSupported('Virt driver does not implement host maintenance mode.');
  }

  /**
   * Executes a power action and returns the driver's message. Throws a 400 error if the host is down, and 501 if the
   * driver does not support power actions.
   */
  async power(name: string, action: HostPowerAction): Promise<string> {
    await this.#findUpHost(name);
    const message = await this.#core.machines.hostPower(name, action);
    if (message === null) throw notSupported('Virt driver does not implement host power management.');
    return message;
  }

  async #find(name: string): Promise<Host> {
    const host = (await this.#core.infrastructure.current()).hosts.get(name);
    if (!host) throw notFound(`Compute host ${name} could not be found.`);
    return host;
  }

  async #findUpHost(name: string): Promise<Host> {
    const host = await this.#find(name);
    if (!this.#core.infrastructure.isUp(host.service))
      throw badRequest(`Compute service of ${name} is unavailable at this time.`);
    return host;
  }
}
