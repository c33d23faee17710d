import type { Core } from '../../core/core.js';
import type { HostPowerAction } from '../../drivers/driver.js';
import { badRequest, notFound, notSupported } from '../../errors/refusal.js';
import { usageByHost } from '../../scheduler/claims.js';
import type { Host, HostMap } from '../../scheduler/infrastructure.js';
import { LIVE, tables } from '../../schema/tables.js';
import { type ServiceState, Services } from './services.js';

/** What a host has, or what is taken of it. Memory in MiB, disks in GiB. */
export interface HostShare {
  /** `(total)`, `(used_now)`, `(used_max)`, or a project id. */
  readonly project: string;
  readonly cpu: number;
  readonly memoryMb: number;
  readonly diskGb: number;
}

/** Hosts as they were managed before there were services and hypervisors. */
export class Hosts {
  readonly #core: Core;
  readonly #services: Services;

  constructor(core: Core) {
    this.#core = core;
    this.#services = new Services(core);
  }

  /** All hosts as they are now, with their zones and states: one object until something of it has changed. */
  map(): Promise<HostMap> {
    return this.#core.infrastructure.hosts();
  }

  /** The enabled services with their hosts, oldest first. */
  async list(query: { readonly zone?: string } = {}): Promise<readonly ServiceState[]> {
    const all = await this.#services.list();
    return all.filter(({ service, zone }) => !service.disabled && (query.zone === undefined || query.zone === zone));
  }

  /** What a compute host has, what is claimed of it, what its servers may use, and how that is spread over projects. */
  async shares(name: string): Promise<readonly HostShare[]> {
    const { node } = await this.#find(name);
    const { store } = this.#core;
    const taken = (await usageByHost(store)).get(name);
    const servers = await tables.servers.find(store, (q) => q.where('host', '=', name).where(LIVE));
    const sumOf = (project: string, of: typeof servers): HostShare => ({
      project,
      cpu: of.reduce((sum, { flavor }) => sum + flavor.vcpus, 0),
      memoryMb: of.reduce((sum, { flavor }) => sum + flavor.memoryMb, 0),
      diskGb: of.reduce((sum, { flavor }) => sum + flavor.diskGb + flavor.ephemeralGb, 0),
    });
    const projects = [...new Set(servers.map(({ projectId }) => projectId))];
    return [
      { project: '(total)', cpu: node.vcpus, memoryMb: node.memoryMb, diskGb: node.localGb },
      {
        project: '(used_now)',
        cpu: taken?.vcpus ?? 0,
        memoryMb: taken?.memoryMb ?? 0,
        diskGb: taken?.diskGb ?? 0,
      },
      sumOf('(used_max)', servers),
      ...projects.map((id) =>
        sumOf(
          id,
          servers.filter(({ projectId }) => projectId === id),
        ),
      ),
    ];
  }

  /** Lets new servers come to a host, or not; 400 when it is down. */
  async setEnabled(name: string, enabled: boolean): Promise<void> {
    const { service } = await this.#findUp(name);
    await this.#services.update(service.id, { disabled: !enabled, disabledReason: null });
  }

  /** Throws 400 when it is down, 501 for a driver that knows no maintenance. */
  async setMaintenance(name: string, on: boolean): Promise<void> {
    await this.#findUp(name);
    if (!(await this.#core.machines.hostMaintenance(name, on)))
      throw notSupported('Virt driver does not implement host maintenance mode.');
  }

  /** What the driver says of it; 400 when the host is down, 501 for a driver that switches no hosts. */
  async power(name: string, action: HostPowerAction): Promise<string> {
    await this.#findUp(name);
    const told = await this.#core.machines.hostPower(name, action);
    if (told === null) throw notSupported('Virt driver does not implement host power management.');
    return told;
  }

  async #find(name: string): Promise<Host> {
    const host = (await this.#core.infrastructure.current()).hosts.get(name);
    if (!host) throw notFound(`Compute host ${name} could not be found.`);
    return host;
  }

  async #findUp(name: string): Promise<Host> {
    const host = await this.#find(name);
    if (!this.#core.infrastructure.isUp(host.service))
      throw badRequest(`Compute service of ${name} is unavailable at this time.`);
    return host;
  }
}
