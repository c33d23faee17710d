import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import { runProgram } from '../programs/run-program.js';
import type { DeviceNames } from './device-names.js';
import type { IpTool } from './ip-tool.js';
import { routeCommands, routedRules } from './ipv6-rules.js';
import { canRouteIpv6, formatConflict, selectRoutedSubnets } from './routed-ipv6.js';

const SETTINGS_FOLDER = '/proc/sys/net/ipv6/conf';
const FORWARDING_FILE = join(SETTINGS_FOLDER, 'all', 'forwarding');

/** The IPv6 subnets that are routed to external networks. */
interface RouteSelection extends ReturnType<typeof selectRoutedSubnets> {
  readonly routerIds: ReadonlySet<string>;
  /** The selection as JSON, which is compared with the previous JSON to detect changes. */
  readonly text: string;
}

const EMPTY_SELECTION: RouteSelection = { routed: [], conflicts: [], routerIds: new Set(), text: '' };

async function hasContent(path: string, value: string): Promise<boolean> {
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
  async select(plan: NetworkPlan): Promise<RouteSelection> {
    if (!existsSync(FORWARDING_FILE) || !plan.routers.some((router) => canRouteIpv6(router))) return EMPTY_SELECTION;
    const { ip, names } = this.#options;
    const selection = selectRoutedSubnets(plan, await ip.ipv6Routes('table', 'main'), names);
    const routerIds = new Set(selection.routed.map(({ routerId }) => routerId));
    return { ...selection, routerIds, text: JSON.stringify(selection) };
  }

  /** Applies the routes, the filter rules and the kernel settings for the selected subnets. */
  async apply({ routed, conflicts }: RouteSelection): Promise<void> {
    if (!existsSync(FORWARDING_FILE)) return;
    const { ip, names, nft, log } = this.#options;
    for (const conflict of conflicts) log(formatConflict(conflict));
    for (const { routerId } of routed) await this.#enableIpv6(names.uplink(routerId));
    // The rules are set before the routes, because the rules limit what routers can send.
    await runProgram(nft, ['-f', '-'], { runAs: undefined, input: routedRules(routed, names) });
    const existing = await ip.ipv6Routes('table', 'all', 'proto', 'static');
    await ip.batchIpv6(routeCommands(routed, existing, await ip.ipv6RulePriorities(), names));
    if (routed.length > 0) await this.#enableForwarding();
  }

  /** Enables IPv6 on a network device, because many computers disable it for new devices. */
  async #enableIpv6(device: string): Promise<void> {
    const path = join(SETTINGS_FOLDER, device, 'disable_ipv6');
    if (!(await hasContent(path, '0'))) await writeFile(path, '0');
  }

  /** Enables IPv6 forwarding, and makes interfaces that accept router advertisements continue to accept them. */
  async #enableForwarding(): Promise<void> {
    if (!(await hasContent(FORWARDING_FILE, '0'))) return;
    for (const device of await readdir(SETTINGS_FOLDER)) {
      const path = join(SETTINGS_FOLDER, device, 'accept_ra');
      if (device !== 'all' && (await hasContent(path, '1'))) await writeFile(path, '2');
    }
    await writeFile(FORWARDING_FILE, '1');
    this.#options.log(
      `IPv6 forwarding is now enabled on this computer (${FORWARDING_FILE}), so that guests can reach external networks`,
    );
  }
}
