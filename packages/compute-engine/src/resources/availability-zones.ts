import type { Core } from '../core/core.js';
import { INTERNAL_ZONE, type ServiceState, Services } from '../hosts/inventory/services.js';

/** An availability zone with its enabled services. */
export interface Zone {
  readonly name: string;
  /** Whether at least one service in the zone is enabled. */
  readonly available: boolean;
  readonly services: readonly ServiceState[];
}

/** Lists the availability zones of hosts and control services. */
export class AvailabilityZones {
  readonly #services: Services;

  constructor(core: Core) {
    this.#services = new Services(core);
  }

  /**
   * Lists availability zones: available zones first, then by the age of their oldest service. The zone of control
   * services is included only if `internal` is set.
   */
  async list(options: { readonly internal?: boolean } = {}): Promise<readonly Zone[]> {
    const all = await this.#services.list();
    const visibleServices = all.filter(({ zone }) => options.internal || zone !== INTERNAL_ZONE);
    const zones = [...new Set(visibleServices.map(({ zone }) => zone))].map((name): Zone => {
      const services = visibleServices.filter(({ zone, service }) => zone === name && !service.disabled);
      return { name, available: services.length > 0, services };
    });
    return zones.sort((a, b) => Number(b.available) - Number(a.available));
  }
}
