import { readFile, writeFile } from 'node:fs/promises';
import type { NetworkPlan, PlannedNetwork, PlannedRouter } from '@apistrata/compute-engine/drivers';
import { runProgram } from '../programs/run-program.js';
import type { DesiredLink } from './desired-link.js';
import { desiredLinks, linkCommands, mustRecreate, removalCommands, selectServedNetworks } from './desired-links.js';
import type { DeviceNames } from './device-names.js';
import { createAdvertisementFiles, createDhcpFiles, hasDhcp } from './dhcp-files.js';
import type { DhcpServers } from './dhcp-servers.js';
import { forwardingCommands } from './forwarding-entries.js';
import { assignZones, guestRules } from './guest-rules.js';
import type { IpTool } from './ip-tool.js';
import { Ipv6Routes } from './ipv6-routes.js';
import type { PhysicalNetworks } from './physical-networks.js';
import { createRouterRules, HOST_ADDRESS, routedAddresses, routerAddresses, routerCommands } from './router-rules.js';
import { SERVICE_ADDRESS } from './service-address.js';
import type { Tunnels } from './tunnels.js';
import type { Wireguard } from './wireguard.js';

const FORWARDING_FILE = '/proc/sys/net/ipv4/ip_forward';

export interface NetworkBuilderOptions {
  readonly ip: IpTool;
  readonly names: DeviceNames;
  readonly nft: string;
  /** The path of `bridge`, the program that manages the forwarding entries of tunnels. */
  readonly bridge: string;
  readonly dhcp: DhcpServers;
  /** The id of the user that owns TAP devices. */
  readonly tapOwner: number;
  /** The DNS resolvers for subnets that define none. */
  readonly nameservers: readonly string[];
  /** The devices of this computer that lead to physical networks. */
  readonly physical: PhysicalNetworks;
  /** The interface that encrypts tunnels; undefined if tunnels are not encrypted. */
  readonly wireguard: Wireguard | undefined;
  readonly log: (line: string) => void;
}

/**
 * Changes the kernel's network devices, addresses and rules to match a network plan. Objects that already match are
 * kept, even if an earlier process created them. Devices of this host that the plan does not contain are removed.
 */
export class NetworkBuilder {
  readonly #options: NetworkBuilderOptions;
  /** The last configuration that was applied to each object. The same configuration is not applied twice in a row. */
  readonly #appliedConfigurations = new Map<string, string>();

  readonly #ipv6Routes: Ipv6Routes;

  constructor(options: NetworkBuilderOptions) {
    this.#options = options;
    this.#ipv6Routes = new Ipv6Routes(options);
  }

  /**
   * Builds the networks of a network plan.
   *
   * @param desired the network plan, including routers on other hosts, for which `host` is not null
   * @param tunnels the tunnels to other hosts; undefined if there are none
   * @param multiqueue whether each port has several queues, by port id; missing for a port if unknown
   */
  async build(
    desired: NetworkPlan,
    tunnels: Tunnels | undefined,
    multiqueue: ReadonlyMap<string, boolean>,
  ): Promise<void> {
    const { names, physical, wireguard } = this.#options;
    const plan = { ...desired, routers: desired.routers.filter(({ host }) => host === null) };
    await wireguard?.configurePeers(tunnels?.wireguard?.peers ?? []);
    await this.#buildDevices(desiredLinks(plan, names, physical, tunnels, multiqueue));
    // The rules must be set before traffic from other hosts is admitted.
    await this.#applyGuestRules(plan, tunnels);
    if (tunnels) await this.#applyForwarding(desired, tunnels);
    // Networks and routers are built independently, so that a failure in one of them does not affect the others.
    const ipv6 = await this.#ipv6Routes.select(plan);
    const results = await Promise.allSettled([
      ...plan.routers.map((router) => this.#buildRouter(router, plan, ipv6.routerIds.has(router.id))),
      ...selectServedNetworks(plan).map((network) => this.#buildServices(network, plan)),
      this.#buildUplinks(plan.routers),
      this.#applyIfChanged('ipv6', ipv6.text, () => this.#ipv6Routes.apply(ipv6)),
    ]);
    const failure = results.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
  }

  /** Applies a configuration, unless it is the configuration that was last applied for the same key. */
  async #applyIfChanged(key: string, configuration: string, work: () => Promise<void>): Promise<void> {
    if (this.#appliedConfigurations.get(key) === configuration) return;
    this.#appliedConfigurations.delete(key);
    await work();
    this.#appliedConfigurations.set(key, configuration);
  }

  async #buildDevices(desired: readonly DesiredLink[]): Promise<void> {
    const { ip, dhcp, tapOwner } = this.#options;
    const names = new Set(desired.map(({ name }) => name));
    const desiredNamespaces = new Set(desired.flatMap((link) => (link.kind === 'veth' ? [link.namespace] : [])));
    const [existing, namespaces, servers] = await Promise.all([ip.links(), ip.namespaces(), dhcp.namespaces()]);
    const addedNamespaces = [...desiredNamespaces].filter((name) => !namespaces.includes(name));
    // The DHCP server and the devices of a namespace that no longer exists may remain, and are removed.
    for (const name of servers)
      if (!desiredNamespaces.has(name) || addedNamespaces.includes(name)) await dhcp.remove(name);
    const isNamespaceLost = (link: DesiredLink) => link.kind === 'veth' && addedNamespaces.includes(link.namespace);
    const mismatchedNames = new Set(
      desired.flatMap((link) =>
        existing.some((one) => one.ifname === link.name && (isNamespaceLost(link) || mustRecreate(link, one)))
          ? [link.name]
          : [],
      ),
    );
    const removedLinks = existing.filter(({ ifname }) => !names.has(ifname) || mismatchedNames.has(ifname));
    const removedNamespaces = namespaces.filter((name) => !desiredNamespaces.has(name));
    await ip.batch([
      ...removalCommands(removedLinks),
      ...removedNamespaces.map((name) => `netns delete ${name}`),
      ...addedNamespaces.map((name) => `netns add ${name}`),
    ]);
    for (const name of [...removedNamespaces, ...addedNamespaces]) this.#appliedConfigurations.delete(name);
    // Removing a namespace also removes both ends of its device pairs.
    const remaining = existing.filter((link) => !removedLinks.includes(link));
    const commands = linkCommands(desired, remaining, tapOwner);
    await ip.batch(commands);
    // New devices must be configured, even if their last configuration was the same.
    const additions = desired.filter(({ name }) => !remaining.some(({ ifname }) => ifname === name));
    for (const link of additions) if (link.kind === 'veth') this.#appliedConfigurations.delete(link.namespace);
    if (additions.length > 0) for (const key of ['outside', 'ipv6']) this.#appliedConfigurations.delete(key);
  }

  async #applyGuestRules(plan: NetworkPlan, tunnels: Tunnels | undefined): Promise<void> {
    const { ip, nft, names, physical } = this.#options;
    const links = await ip.links();
    const zones = assignZones(plan, names, (name) => links.find(({ ifname }) => ifname === name)?.ifindex ?? 0);
    const isEmpty = plan.networks.length === 0;
    const rules = isEmpty
      ? ['bridge', 'inet']
          .map((family) => `table ${family} ${names.tableName}\ndelete table ${family} ${names.tableName}\n`)
          .join('')
      : guestRules(plan, zones, names, physical, tunnels);
    await this.#applyIfChanged('guests', rules, async () => {
      await runProgram(nft, ['-f', '-'], { runAs: undefined, input: rules });
    });
  }

  /** Sets the forwarding entries of tunnels to other hosts. */
  async #applyForwarding(plan: NetworkPlan, tunnels: Tunnels): Promise<void> {
    const { ip, names, bridge } = this.#options;
    await ip.changeForwarding(bridge, forwardingCommands(plan, names, tunnels, await ip.forwardingEntries(bridge)));
  }

  /** Enables IP forwarding in a namespace. */
  async #enableForwarding(namespace: string): Promise<void> {
    const { ip } = this.#options;
    await ip.runInNamespace(namespace, 'tee', [FORWARDING_FILE], '1');
    await ip.runInNamespace(namespace, 'tee', ['/proc/sys/net/ipv6/conf/all/forwarding'], '1').catch(() => {});
  }

  async #applyAddresses(namespace: string | undefined, desired: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const { ip } = this.#options;
    const existing = await ip.addresses(namespace);
    const removals = existing.flatMap(({ ifname, addr_info: all }) =>
      all
        .filter(({ scope }) => scope === 'global')
        .map(({ local, prefixlen }) => `${local}/${prefixlen}`)
        .filter((address) => !(desired.get(ifname) ?? []).includes(address))
        .map((address) => `address delete ${address} dev ${ifname}`),
    );
    const additions = [...desired].flatMap(([device, addresses]) =>
      addresses.map((address) => `address replace ${address} dev ${device}${address.includes(':') ? ' nodad' : ''}`),
    );
    await ip.batch([...removals, ...additions], namespace);
  }

  async #buildRouter(router: PlannedRouter, plan: NetworkPlan, routed: boolean): Promise<void> {
    const { ip, nft, dhcp, names } = this.#options;
    const namespace = names.router(router.id);
    const addresses = routerAddresses(router, plan, names, routed);
    const commands = routerCommands(router, plan, names, routed);
    const rules = createRouterRules(router, names);
    await this.#applyIfChanged(namespace, JSON.stringify([...addresses, commands, rules]), async () => {
      await this.#enableForwarding(namespace);
      await this.#applyAddresses(namespace, addresses);
      await ip.batch(commands, namespace);
      await ip.runInNamespace(namespace, nft, ['-f', '-'], rules);
    });
    const folder = dhcp.folderOf(namespace);
    const advertisementFiles =
      router.adminStateUp && createAdvertisementFiles(router, plan, (id) => names.router(id), folder);
    if (advertisementFiles) await dhcp.startOrReload(namespace, advertisementFiles);
    else await dhcp.remove(namespace);
  }

  /** Sets the addresses and routes that connect this computer to its routers. */
  async #buildUplinks(routers: readonly PlannedRouter[]): Promise<void> {
    const { ip, log, names } = this.#options;
    const uplinks = routers
      .filter(({ external }) => external)
      .map((router) => ({ device: names.uplink(router.id), addresses: routedAddresses(router) }));
    await this.#applyIfChanged('outside', JSON.stringify(uplinks), async () => {
      if (uplinks.length > 0 && (await readFile(FORWARDING_FILE, 'utf8')).trim() === '0') {
        await writeFile(FORWARDING_FILE, '1');
        log(
          `IP forwarding is now enabled on this computer (${FORWARDING_FILE}), so that guests can reach external networks`,
        );
      }
      const desired = new Set(
        uplinks.flatMap(({ device, addresses }) => addresses.map((address) => `${address} ${device}`)),
      );
      const existing = await ip.routes();
      await ip.batch([
        ...existing
          .filter(({ dst, dev }) => !desired.has(`${dst} ${dev}`))
          .map(({ dst, dev }) => `route delete ${dst} dev ${dev}`),
        ...uplinks.flatMap(({ device, addresses }) => [
          `address replace ${HOST_ADDRESS}/32 dev ${device}`,
          ...addresses.map((address) => `route replace ${address}/32 dev ${device}`),
        ]),
      ]);
    });
  }

  async #buildServices(network: PlannedNetwork, plan: NetworkPlan): Promise<void> {
    const { ip, dhcp, nameservers, names } = this.#options;
    const namespace = names.service(network.id);
    const ipv4Subnets = network.subnets.filter(({ ipVersion }) => ipVersion === 4).map(({ cidr }) => cidr);
    await this.#applyIfChanged(namespace, JSON.stringify([ipv4Subnets, network.mtu]), () =>
      ip.batch(
        [
          'link set dev lo up',
          `link set dev ${namespace} mtu ${network.mtu} up`,
          `address replace ${SERVICE_ADDRESS}/32 dev ${namespace}`,
          ...ipv4Subnets.map((cidr) => `route replace ${cidr} dev ${namespace}`),
        ],
        namespace,
      ),
    );
    if (hasDhcp(network))
      await dhcp.startOrReload(
        namespace,
        createDhcpFiles(network, plan, namespace, dhcp.folderOf(namespace), nameservers),
      );
    else await dhcp.remove(namespace);
  }
}
