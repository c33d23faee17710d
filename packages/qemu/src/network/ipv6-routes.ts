import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import { runProgram } from '../programs/run-program.js';
import type { DeviceNames } from './device-names.js';
import type { IpTool } from './ip-tool.js';
import { routeCommands, routedRules } from './ipv6-rules.js';
import { canRouteIpv6, conflictMessage, selectRouted } from './routed-ipv6.js';

const SETTINGS = '/proc/sys/net/ipv6/conf';
const FORWARDING = join(SETTINGS, 'all', 'forwarding');

/** The IPv6 subnets that are routed to external networks. */
interface Selection extends ReturnType<typeof selectRouted> {
  readonly routerIds: ReadonlySet<string>;
  /** A serialized form of the selection, by which changes are detected. */
  readonly text: string;
}

const NOTHING: Selection = { routed: [], conflicts: [], routerIds: new Set(), text: '' };

async function isSet(path: string, value: string): Promise<boolean> {
  return (await readFile(path, 'utf8').catch(() => '')).trim() === value;
}

export interface Ipv6RoutesOptions {
  readonly ip: IpTool;
  readonly names: DeviceNames;
  readonly nft: string;
  readonly log: (line: string) => void;
}

/** This computer's routes to guests' IPv6 subnets. */
export class Ipv6Routes {
  readonly #options: Ipv6RoutesOptions;

  constructor(options: Ipv6RoutesOptions) {
    this.#options = options;
  }

  /** Selects the subnets to route to external networks; none if the computer does not support IPv6. */
  async select(plan: NetworkPlan): Promise<Selection> {
    if (!existsSync(FORWARDING) || !plan.routers.some((router) => canRouteIpv6(router))) return NOTHING;
    const { ip, names } = this.#options;
    const selected = selectRouted(plan, await ip.ipv6Routes('table', 'main'), names);
    const routerIds = new Set(selected.routed.map(({ routerId }) => routerId));
    return { ...selected, routerIds, text: JSON.stringify(selected) };
  }

  /** Applies the routes, the filter rules and the kernel settings for the selected subnets. */
  async apply({ routed, conflicts }: Selection): Promise<void> {
    if (!existsSync(FORWARDING)) return;
    const { ip, names, nft, log } = this.#options;
    for (const conflict of conflicts) log(conflictMessage(conflict));
    for (const { routerId } of routed) await this.#enable(names.uplink(routerId));
    // The rules are set before the routes, because they limit what routers can send.
    await runProgram(nft, ['-f', '-'], { runAs: undefined, input: routedRules(routed, names) });
    const existing = await ip.ipv6Routes('table', 'all', 'proto', 'static');
    await ip.batchIpv6(routeCommands(routed, existing, await ip.ipv6RulePriorities(), names));
    if (routed.length > 0) await this.#enableForwarding();
  }

  /** Enables IPv6 on a network device, because many computers disable it for new devices. */
  async #enable(device: string): Promise<void> {
    const path = join(SETTINGS, device, 'disable_ipv6');
    if (!(await isSet(path, '0'))) await writeFile(path, '0');
  }

  /** Enables IPv6 forwarding, and makes interfaces that accept router advertisements continue to accept them. */
  async #enableForwarding(): Promise<void> {
    if (!(await isSet(FORWARDING, '0'))) return;
    for (const device of await readdir(SETTINGS)) {
      const path = join(SETTINGS, device, 'accept_ra');
      if (device !== 'all' && (await isSet(path, '1'))) await writeFile(path, '2');
    }
    await writeFile(FORWARDING, '1');
    this.#options.log(
      `IPv6 forwarding is now enabled on this computer (${FORWARDING}), so that guests reach external networks`,
    );
  }
}
