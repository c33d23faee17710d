import { readFile, writeFile } from 'node:fs/promises';
import type { NetworkPlan, PlannedNetwork, PlannedRouter } from '@apistrata/compute-engine/drivers';
import { runProgram } from '../programs/run-program.js';
import { type DesiredLink, desiredLinks, isOther, linkCommands, servedNetworks } from './desired-links.js';
import type { DeviceNames } from './device-names.js';
import { announcementFiles, dhcpFiles, hasDhcp } from './dhcp-files.js';
import type { DhcpServers } from './dhcp-servers.js';
import { forwardingCommands } from './forwarding-entries.js';
import { guestRules, SERVICE_ADDRESS, zonesOf } from './guest-rules.js';
import type { IpTool } from './ip-tool.js';
import { HOST_ADDRESS, outsideAddresses, routerAddresses, routerCommands, routerRules } from './router-rules.js';
import type { Tunnels } from './tunnels.js';

const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

export interface BuilderOptions {
  readonly ip: IpTool;
  readonly names: DeviceNames;
  readonly nft: string;
  /** The program that knows where tunnels lead. */
  readonly bridge: string;
  readonly dhcp: DhcpServers;
  /** Whom taps belong to. */
  readonly tapOwner: number;
  /** Resolvers for subnets that name none. */
  readonly nameservers: readonly string[];
  readonly log: (line: string) => void;
}

/**
 * Brings devices, addresses and rules of the kernel to what a plan says. What is there already stays as it is, whoever made
 * it; what is this program's and not in the plan goes.
 */
export class Builder {
  readonly #options: BuilderOptions;
  /** What was done last, by what it was done to: it is not done again. */
  readonly #done = new Map<string, string>();

  constructor(options: BuilderOptions) {
    this.#options = options;
  }

  /**
   * @param wanted with the routers of other hosts, whose host is not null
   * @param tunnels how networks are joined with those of other hosts; left out: there are none
   */
  async build(wanted: NetworkPlan, tunnels?: Tunnels): Promise<void> {
    const { names } = this.#options;
    const plan = { ...wanted, routers: wanted.routers.filter(({ host }) => host === null) };
    await this.#devices(desiredLinks(plan, names, tunnels));
    // Rules are there before anything of another host is let in.
    await this.#guests(plan, tunnels);
    if (tunnels) await this.#forwarding(wanted, tunnels);
    // What is wrong with one network or router keeps none of the others from being built.
    const done = await Promise.allSettled([
      ...plan.routers.map((router) => this.#router(router, plan)),
      ...servedNetworks(plan).map((network) => this.#services(network, plan)),
      this.#outside(plan.routers),
    ]);
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Does something unless just that was done last. */
  async #once(what: string, how: string, work: () => Promise<void>): Promise<void> {
    if (this.#done.get(what) === how) return;
    this.#done.delete(what);
    await work();
    this.#done.set(what, how);
  }

  async #devices(desired: readonly DesiredLink[]): Promise<void> {
    const { ip, dhcp, tapOwner } = this.#options;
    const names = new Set(desired.map(({ name }) => name));
    const desiredSpaces = new Set(desired.flatMap((link) => (link.kind === 'veth' ? [link.namespace] : [])));
    const [there, spaces, servers] = await Promise.all([ip.links(), ip.namespaces(), dhcp.known()]);
    for (const name of servers) if (!desiredSpaces.has(name)) await dhcp.remove(name);
    const others = new Set(
      desired.flatMap((link) =>
        there.some((one) => one.ifname === link.name && isOther(link, one)) ? [link.name] : [],
      ),
    );
    const gone = there.filter(({ ifname }) => !names.has(ifname) || others.has(ifname));
    const goneSpaces = spaces.filter((name) => !desiredSpaces.has(name));
    await ip.batch([
      ...gone.map(({ ifname }) => `link delete dev ${ifname}`),
      ...goneSpaces.map((name) => `netns delete ${name}`),
      ...[...desiredSpaces].filter((name) => !spaces.includes(name)).map((name) => `netns add ${name}`),
    ]);
    for (const name of goneSpaces) this.#done.delete(name);
    // An end whose other end went with its namespace went, too.
    const left = there.filter((link) => !gone.includes(link));
    const commands = linkCommands(desired, left, tapOwner);
    await ip.batch(commands);
    // What was made anew has nothing in it.
    const fresh = desired.filter(({ name }) => !left.some(({ ifname }) => ifname === name));
    for (const link of fresh) if (link.kind === 'veth') this.#done.delete(link.namespace);
    if (fresh.length > 0) this.#done.delete('outside');
  }

  async #guests(plan: NetworkPlan, tunnels: Tunnels | undefined): Promise<void> {
    const { ip, nft, names } = this.#options;
    const links = await ip.links();
    const zones = zonesOf(plan, names, (name) => links.find(({ ifname }) => ifname === name)?.ifindex ?? 0);
    const empty = plan.networks.length === 0;
    const rules = empty
      ? ['bridge', 'inet']
          .map((family) => `table ${family} ${names.table}\ndelete table ${family} ${names.table}\n`)
          .join('')
      : guestRules(plan, zones, names, tunnels);
    await this.#once('guests', rules, async () => {
      await runProgram(nft, ['-f', '-'], { runAs: undefined, input: rules });
    });
  }

  /** Has tunnels lead to the other hosts. */
  async #forwarding(plan: NetworkPlan, tunnels: Tunnels): Promise<void> {
    const { ip, names, bridge } = this.#options;
    await ip.forward(bridge, forwardingCommands(plan, names, tunnels, await ip.forwarding(bridge)));
  }

  /** Has packets forwarded in a namespace. */
  async #letThrough(namespace: string): Promise<void> {
    const { ip } = this.#options;
    await ip.run(namespace, 'tee', [FORWARDING], '1');
    await ip.run(namespace, 'tee', ['/proc/sys/net/ipv6/conf/all/forwarding'], '1').catch(() => {});
  }

  async #addresses(namespace: string | undefined, desired: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const { ip } = this.#options;
    const there = await ip.addresses(namespace);
    const stale = there.flatMap(({ ifname, addr_info: all }) =>
      all
        .filter(({ scope }) => scope === 'global')
        .map(({ local, prefixlen }) => `${local}/${prefixlen}`)
        .filter((address) => !(desired.get(ifname) ?? []).includes(address))
        .map((address) => `address delete ${address} dev ${ifname}`),
    );
    const fresh = [...desired].flatMap(([device, addresses]) =>
      addresses.map((address) => `address replace ${address} dev ${device}${address.includes(':') ? ' nodad' : ''}`),
    );
    await ip.batch([...stale, ...fresh], namespace);
  }

  async #router(router: PlannedRouter, plan: NetworkPlan): Promise<void> {
    const { ip, nft, dhcp, names } = this.#options;
    const namespace = names.router(router.id);
    const addresses = routerAddresses(router, plan, names);
    const commands = routerCommands(router, plan, names);
    const rules = routerRules(router, names);
    await this.#once(namespace, JSON.stringify([...addresses, commands, rules]), async () => {
      await this.#letThrough(namespace);
      await this.#addresses(namespace, addresses);
      await ip.batch(commands, namespace);
      await ip.run(namespace, nft, ['-f', '-'], rules);
    });
    const folder = dhcp.folderOf(namespace);
    const announced = router.adminStateUp && announcementFiles(router, plan, (id) => names.router(id), folder);
    if (announced) await dhcp.run(namespace, announced);
    else await dhcp.remove(namespace);
  }

  /** The way from this computer to routers, and on from it. */
  async #outside(routers: readonly PlannedRouter[]): Promise<void> {
    const { ip, log, names } = this.#options;
    const ways = routers
      .filter(({ external }) => external)
      .map((router) => ({ device: names.uplink(router.id), addresses: outsideAddresses(router) }));
    await this.#once('outside', JSON.stringify(ways), async () => {
      if (ways.length > 0 && (await readFile(FORWARDING, 'utf8')).trim() === '0') {
        await writeFile(FORWARDING, '1');
        log(`this computer forwards packets from now on (${FORWARDING}), for guests to reach out`);
      }
      const desired = new Set(
        ways.flatMap(({ device, addresses }) => addresses.map((address) => `${address} ${device}`)),
      );
      const there = await ip.routes();
      await ip.batch([
        ...there
          .filter(({ dst, dev }) => !desired.has(`${dst} ${dev}`))
          .map(({ dst, dev }) => `route delete ${dst} dev ${dev}`),
        ...ways.flatMap(({ device, addresses }) => [
          `address replace ${HOST_ADDRESS}/32 dev ${device}`,
          ...addresses.map((address) => `route replace ${address}/32 dev ${device}`),
        ]),
      ]);
    });
  }

  async #services(network: PlannedNetwork, plan: NetworkPlan): Promise<void> {
    const { ip, dhcp, nameservers, names } = this.#options;
    const namespace = names.service(network.id);
    const v4 = network.subnets.filter(({ ipVersion }) => ipVersion === 4).map(({ cidr }) => cidr);
    await this.#once(namespace, JSON.stringify([v4, network.mtu]), () =>
      ip.batch(
        [
          'link set dev lo up',
          `link set dev ${namespace} mtu ${network.mtu} up`,
          `address replace ${SERVICE_ADDRESS}/32 dev ${namespace}`,
          ...v4.map((cidr) => `route replace ${cidr} dev ${namespace}`),
        ],
        namespace,
      ),
    );
    if (hasDhcp(network))
      await dhcp.run(namespace, dhcpFiles(network, plan, namespace, dhcp.folderOf(namespace), nameservers));
    else await dhcp.remove(namespace);
  }
}
