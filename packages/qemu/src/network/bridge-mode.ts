import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isIP, isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Diagnostics, DriverServices, NetworkPlan, NetworkPlans } from '@apistrata/compute-engine/drivers';
import { findGuest, storeMetadata } from '../metadata/known-guests.js';
import { MetadataService } from '../metadata/metadata-service.js';
import { findProgram } from '../programs/find-program.js';
import { type RunAs, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { BuildHealth } from './build-health.js';
import { sanitizePlan } from './checked-plan.js';
import { claimNames } from './claim-names.js';
import { selectServedNetworks } from './desired-links.js';
import { DhcpServers } from './dhcp-servers.js';
import { IpTool, type TrafficCounters } from './ip-tool.js';
import { NetworkBuilder } from './network-builder.js';
import type { MachineFolders, NetworkMode } from './network-mode.js';
import { checkPhysicalNetwork, findPhysicalNetworks } from './physical-networks.js';
import { probeNetworks } from './probe-networks.js';
import { SERVICE_ADDRESS } from './service-address.js';
import { createTapBackend } from './tap-backend.js';
import { type CurrentHosts, readCurrentHosts } from './tunnels.js';
import { Wireguard } from './wireguard.js';

/** The interval between checks for network changes that other processes made. */
const POLL_INTERVAL_MS = 2_000;
/** The interval between checks for network devices that other programs removed. */
const RECONCILE_INTERVAL_MS = 30_000;

const BRIDGE_FILTER_FOLDER = '/proc/sys/net/bridge';

export interface BridgeModeOptions {
  /** The host's directory, which contains the files of the DHCP servers. */
  readonly directory: string;
  readonly networks: DriverServices['networks'];
  /** The other hosts; undefined if this host is the only one. */
  readonly hosts: DriverServices['hosts'];
  /** The UDP port of the tunnels between hosts. */
  readonly tunnelPort: number;
  /** The UDP port of the interface that encrypts the tunnels; undefined if the tunnels are not encrypted. */
  readonly wireguardPort: number | undefined;
  /** The network devices of this computer, by the name of their physical network. */
  readonly providerNetworks: Readonly<Record<string, string>>;
  /** Whether machines can use vhost-net, the kernel's implementation of virtio network devices. */
  readonly vhost: boolean;
  readonly runAs: RunAs | undefined;
  readonly log: (line: string) => void;
}

/** Returns the IPv4 addresses of this computer's DNS resolvers, except local ones, which guests cannot reach. */
async function readResolvers(): Promise<readonly string[]> {
  const text = await readFile('/etc/resolv.conf', 'utf8').catch(() => '');
  const allResolvers = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, address = '']) => address);
  return allResolvers.filter((address) => isIPv4(address) && !address.startsWith('127.'));
}

/** Loads the kernel module that applies IP filter rules to bridged frames. Many kernels load it only on request. */
async function loadBridgeFilter(): Promise<void> {
  if (existsSync(BRIDGE_FILTER_FOLDER)) return;
  await runProgram('modprobe', ['br_netfilter'], { runAs: undefined }).catch(() => {});
  if (!existsSync(BRIDGE_FILTER_FOLDER))
    throw new QemuError('NETWORKS_UNAVAILABLE', 'this kernel has no br_netfilter, which security groups need');
  // By default, `br_netfilter` filters the frames of all bridges on the computer. It is disabled here and enabled only
  // on guest bridges, so that other bridges are unaffected.
  for (const name of ['iptables', 'ip6tables', 'arptables'])
    await writeFile(join(BRIDGE_FILTER_FOLDER, `bridge-nf-call-${name}`), '0');
}

/**
 * Returns an interface's counters as seen by the guest: the guest has sent what the host receives from the TAP device.
 */
function toNicCounters(macAddress: string, { rx: sent, tx: received }: TrafficCounters): Diagnostics['nics'][number] {
  return {
    macAddress,
    rxBytes: received.bytes,
    rxPackets: received.packets,
    rxErrors: received.errors,
    rxDrop: received.dropped,
    txBytes: sent.bytes,
    txPackets: sent.packets,
    txErrors: sent.errors,
    txDrop: sent.dropped,
  };
}

interface DesiredState {
  readonly plan: NetworkPlan;
  /** The tunnels to other hosts; undefined if there are none. */
  readonly tunnels?: CurrentHosts['tunnels'];
  readonly problem?: string | null;
}

/** Runs a function sequentially. All calls to `run` during an execution of the function share the next execution. */
class SharedRunner {
  #currentRun: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  readonly #round: () => Promise<void>;

  constructor(round: () => Promise<void>) {
    this.#round = round;
  }

  /** Resolves when an execution that started after this call has ended. */
  run(): Promise<void> {
    if (!this.#currentRun) {
      this.#currentRun = this.#round().finally(() => {
        this.#currentRun = undefined;
      });
      return this.#currentRun;
    }
    this.#next ??= this.#currentRun
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.run();
      });
    return this.#next;
  }

  /** Resolves when no execution is in progress or scheduled. */
  async waitUntilIdle(): Promise<void> {
    while (this.#currentRun) await (this.#next ?? this.#currentRun).catch(() => {});
  }
}

/**
 * Opens the network mode `bridge`, which implements networks in this computer's kernel: a bridge with a DHCP server for
 * each network, routers in their own namespaces, and filter rules for each guest. The networks outlive this process.
 * The next process takes them over, and removes devices that no network needs any longer.
 *
 * @throws QemuError `NETWORKS_UNAVAILABLE` or `QEMU_MISSING`; the message states the fix
 */
export async function openBridgeMode(options: BridgeModeOptions): Promise<(folders: MachineFolders) => NetworkMode> {
  const { directory, networks, hosts, tunnelPort, wireguardPort, vhost, runAs, log } = options;
  const { networkPlan, onNetworkChange } = networks as Partial<NetworkPlans>;
  if (process.getuid?.() !== 0)
    throw new QemuError(
      'NETWORKS_UNAVAILABLE',
      'bridges require root: start the program as root, or use the network mode user',
    );
  if (!networkPlan || !onNetworkChange)
    throw new QemuError(
      'NETWORKS_UNAVAILABLE',
      'bridge mode requires the built-in network service: remove --network-url',
    );
  const ipProgram = findProgram('ip', 'the package iproute2');
  const bridge = findProgram('bridge', 'the package iproute2');
  const nft = findProgram('nft', 'the package nftables');
  const dnsmasq = findProgram('dnsmasq', 'the package dnsmasq-base');
  if (hosts && isIP(hosts.address) === 0)
    throw new QemuError('NETWORKS_UNAVAILABLE', `tunnels require the IP address of the host, not '${hosts.address}'`);
  const isEncrypted = hosts !== undefined && wireguardPort !== undefined;
  const names = await claimNames(directory, hosts ? tunnelPort : null, isEncrypted);
  const ip = new IpTool(ipProgram, names);
  const physical = await findPhysicalNetworks(options.providerNetworks, ipProgram);
  await loadBridgeFilter();
  const folder = join(directory, 'networks');
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const wireguard = isEncrypted ? await Wireguard.open({ folder, ip, names, port: wireguardPort, log }) : undefined;
  const dhcp = new DhcpServers(folder, dnsmasq, ip, names);
  const nameservers = await readResolvers();
  const builder = new NetworkBuilder({
    ip,
    names,
    nft,
    bridge,
    dhcp,
    tapOwner: runAs?.uid ?? 0,
    nameservers,
    physical,
    wireguard,
    log,
  });

  /** Returns the current network plan, in which `host` is null for routers on this host. */
  const desired = async (folders: MachineFolders): Promise<DesiredState> => {
    const ids = await folders.machineIds();
    if (!hosts) return { plan: sanitizePlan(await networkPlan(ids)) };
    const { self } = hosts;
    const { alive, ...current } = await readCurrentHosts(hosts, tunnelPort, wireguard);
    const { routers, ...plan } = sanitizePlan(await networkPlan(ids, { self, alive }));
    return {
      ...current,
      plan: {
        ...plan,
        routers: routers.map((router) => (router.host === self ? { ...router, host: null } : router)),
      },
    };
  };

  return (folders) => {
    let builtPlan: NetworkPlan = { networks: [], ports: [], routers: [], rules: [], members: {} };
    const metadata = new MetadataService({
      ip,
      address: SERVICE_ADDRESS,
      guest: (namespace, address) => findGuest(builtPlan, names, folders, namespace, address),
      log,
    });
    /**
     * Whether a port has several queues, by server and port id. Missing for machines that an earlier process started.
     */
    const multiqueue = new Map<string, ReadonlyMap<string, boolean>>();
    // Devices are checked after a network change, before a machine starts, and periodically.
    let lastCheck = { desired: '', at: 0 };
    let isCheckRequested = false;
    let localRouters = '';
    const notifyRouters = ({ routers }: NetworkPlan) => {
      const ids = routers.flatMap(({ id, host }) => (host === null ? [id] : [])).join(', ');
      if (ids !== localRouters) log(`routers here: ${ids || 'none'}`);
      localRouters = ids;
    };
    const build = async ({ plan, tunnels }: DesiredState) => {
      const queues = new Map([...multiqueue.values()].flatMap((ports) => [...ports]));
      const text = JSON.stringify([plan, { ...tunnels, peers: [...(tunnels?.peers ?? [])] }, [...queues]]);
      const isRecent = Date.now() - lastCheck.at < RECONCILE_INTERVAL_MS;
      if (!isCheckRequested && isRecent && lastCheck.desired === text) return;
      // A check that is requested from now on runs in the next round.
      isCheckRequested = false;
      lastCheck = { desired: '', at: 0 };
      const namespaces = selectServedNetworks(plan).map(({ id }) => names.service(id));
      // A namespace cannot be removed while a socket listens in it.
      await metadata.closeAllExcept(namespaces);
      await builder.build(plan, tunnels, queues);
      builtPlan = plan;
      if (tunnels) notifyRouters(plan);
      await metadata.listenIn(namespaces);
      lastCheck = { desired: text, at: Date.now() };
    };
    const health = new BuildHealth(log);
    // Without networks, a build does nothing, and only a probe shows whether the next server can be connected.
    let probedAt = 0;
    const probe = async () => {
      if (!health.isFailing && Date.now() - probedAt < RECONCILE_INTERVAL_MS) return;
      await probeNetworks(ip, names, nft);
      probedAt = Date.now();
    };
    const roundRunner = new SharedRunner(async () => {
      const desiredState = await desired(folders).catch((error) => {
        health.recordUnreadablePlan(error);
        throw error;
      });
      try {
        await build(desiredState);
        await probe();
        health.recordSuccess(desiredState.problem);
      } catch (error) {
        health.recordFailure(error as Error);
        throw error;
      }
    });
    const refresh = () => roundRunner.run().catch(() => {});
    const firstRound = refresh();
    const unsubscribe = onNetworkChange(() => void refresh());
    const timer = setInterval(() => void refresh(), POLL_INTERVAL_MS).unref();
    return {
      async connect(server, interfaces, starting, { queues, virtio }) {
        if (starting) await storeMetadata(folders.folderOf(server.id), server, interfaces);
        const previousPorts = starting ? [] : (multiqueue.get(server.id) ?? []);
        const addedPorts = interfaces.map(({ portId }, index) => [portId, (queues[index] ?? 1) > 1] as const);
        multiqueue.set(server.id, new Map([...previousPorts, ...addedPorts]));
        isCheckRequested = true;
        await roundRunner.run();
        for (const { portId } of interfaces) checkPhysicalNetwork(builtPlan, portId, physical);
        return interfaces.map(({ portId }, index) =>
          createTapBackend(names.tap(portId), queues[index] ?? 1, vhost && virtio),
        );
      },
      async counters({ interfaces }) {
        const counters = await ip.counters();
        return interfaces.flatMap(({ portId, mac }) => {
          const traffic = counters.get(names.tap(portId));
          return traffic ? [toNicCounters(mac, traffic)] : [];
        });
      },
      release(serverId) {
        multiqueue.delete(serverId);
        return roundRunner.run();
      },
      async problem() {
        await firstRound;
        return health.problem;
      },
      wireguard,
      onChange: (listener) => health.onChange(listener),
      async close() {
        clearInterval(timer);
        unsubscribe();
        await roundRunner.waitUntilIdle();
        await metadata.close();
      },
    };
  };
}
