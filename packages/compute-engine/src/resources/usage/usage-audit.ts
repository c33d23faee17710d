import type { Core } from '../../core/core.js';
import { tables } from '../../schema/tables.js';

/** The result of a usage audit on one host. */
interface HostAudit {
  readonly host: string;
  readonly instances: number;
  readonly message: string;
}

/** The usage audits of all hosts for one calendar month. Times are in milliseconds since the epoch. */
export interface UsageAuditLog {
  readonly beginning: number;
  readonly ending: number;
  readonly hosts: readonly string[];
  readonly done: readonly HostAudit[];
}

/** Reads the log of usage audits. */
export class UsageAudit {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Returns the usage audit log of the last complete month before a time (default: now). The log contains no audits of
   * hosts that are down.
   */
  async log(before?: number): Promise<UsageAuditLog> {
    const { clock, infrastructure, settings } = this.#core;
    const at = new Date(before ?? clock.now());
    const ending = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
    const beginning = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1);
    const { hosts } = await infrastructure.hosts();
    const auditedHosts = settings.usageAudit
      ? [...hosts.values()].filter(({ service }) => infrastructure.isUp(service))
      : [];
    const done = await Promise.all(auditedHosts.map(({ name }) => this.#auditOf(name, beginning, ending)));
    return { beginning, ending, hosts: [...hosts.keys()], done };
  }

  async #auditOf(host: string, beginning: number, ending: number): Promise<HostAudit> {
    const { store } = this.#core;
    const selectLaunchedOnHost = (rows: any) => rows.where('host', '=', host).where('launched_at', '<', ending);
    const selectEndedOnHost = (rows: any) => selectLaunchedOnHost(rows).where('terminated_at', '>=', beginning);
    const counts = await Promise.all([
      tables.servers.count(store, (rows) => selectLaunchedOnHost(rows).where('terminated_at', 'is', null)),
      tables.servers.count(store, selectEndedOnHost),
      tables.serverUsage.count(store, selectEndedOnHost),
    ]);
    const instances = counts.reduce((sum, count) => sum + count, 0);
    return { host, instances, message: `Instance usage audit ran for host ${host}, ${instances} instances.` };
  }
}
