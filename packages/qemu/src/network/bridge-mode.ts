import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isIP, isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Diagnostics, DriverServices, NetworkPlan, NetworkPlans } from '@apistrata/compute-engine/drivers';
import { guestAt, keepStory } from '../metadata/known-guests.js';
import { MetadataService } from '../metadata/metadata-service.js';
import { findProgram } from '../programs/find-program.js';
import { type RunAs, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { Builder } from './builder.js';
import { checkedPlan } from './checked-plan.js';
import { claimNames } from './claim-names.js';
import { servedNetworks } from './desired-links.js';
import { DhcpServers } from './dhcp-servers.js';
import { SERVICE_ADDRESS } from './guest-rules.js';
import { IpTool, type Traffic } from './ip-tool.js';
import type { MachinePlaces, NetworkMode } from './network-mode.js';
import { hostsNow, type Tunnels } from './tunnels.js';

/** How often it is looked whether other processes have changed networks. */
const LOOK_MS = 2_000;
/** How long devices that somebody else has taken away may be missing. */
const HEAL_MS = 30_000;

const BRIDGE_FILTER = '/proc/sys/net/bridge';

export interface BridgeModeOptions {
  /** Folder of what its processes read. */
  readonly directory: string;
  readonly networks: DriverServices['networks'];
  /** The other hosts; undefined: there are none. */
  readonly hosts: DriverServices['hosts'];
  /** UDP port at which networks of hosts meet. */
  readonly tunnelPort: number;
  readonly runAs: RunAs | undefined;
  readonly log: (line: string) => void;
}

/** Resolvers of this computer that guests can reach as well. */
async function resolvers(): Promise<readonly string[]> {
  const text = await readFile('/etc/resolv.conf', 'utf8').catch(() => '');
  const all = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, address = '']) => address);
  return all.filter((address) => isIPv4(address) && !address.startsWith('127.'));
}

/** Has frames of bridges pass the rules of IP: a module that many kernels load only when asked. */
async function loadBridgeFilter(): Promise<void> {
  if (existsSync(BRIDGE_FILTER)) return;
  await runProgram('modprobe', ['br_netfilter'], { runAs: undefined }).catch(() => {});
  if (!existsSync(BRIDGE_FILTER))
    throw new QemuError('NETWORKS_UNAVAILABLE', 'this kernel has no br_netfilter, which security groups need');
  // It begins with all bridges of the computer. Those of guests say so of themselves, and the others stay as they were.
  for (const name of ['iptables', 'ip6tables', 'arptables'])
    await writeFile(join(BRIDGE_FILTER, `bridge-nf-call-${name}`), '0');
}

/** What this computer has got from a tap, its guest has sent. */
function nicCounters(macAddress: string, { rx: sent, tx: got }: Traffic): Diagnostics['nics'][number] {
  return {
    macAddress,
    rxBytes: got.bytes,
    rxPackets: got.packets,
    rxErrors: got.errors,
    rxDrop: got.dropped,
    txBytes: sent.bytes,
    txPackets: sent.packets,
    txErrors: sent.errors,
    txDrop: sent.dropped,
  };
}

/** One round after the other; who asks while one is under way gets the next one. */
class Rounds {
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  readonly #round: () => Promise<void>;

  constructor(round: () => Promise<void>) {
    this.#round = round;
  }

  /** A round that begins after this was asked. */
  run(): Promise<void> {
    if (!this.#running) {
      this.#running = this.#round().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.run();
      });
    return this.#next;
  }

  async rest(): Promise<void> {
    while (this.#running) await (this.#next ?? this.#running).catch(() => {});
  }
}

/**
 * Networks of this computer's kernel: a bridge for each, with a DHCP server; routers in namespaces of their own; rules for
 * each guest. All of it is the kernel's and goes on without this process; the next one takes it over, and removes what is in
 * no plan any more.
 *
 * @throws QemuError `NETWORKS_UNAVAILABLE` or `QEMU_MISSING` with the cure
 */
export async function openBridgeMode(options: BridgeModeOptions): Promise<(places: MachinePlaces) => NetworkMode> {
  const { directory, networks, hosts, tunnelPort, runAs, log } = options;
  const { networkPlan, onNetworkChange } = networks as Partial<NetworkPlans>;
  if (process.getuid?.() !== 0)
    throw new QemuError('NETWORKS_UNAVAILABLE', 'bridges need root: start it as root, or take the network mode user');
  if (!networkPlan || !onNetworkChange)
    throw new QemuError(
      'NETWORKS_UNAVAILABLE',
      'the network service tells nobody what to build: bridges need the built-in one, without --network-url',
    );
  const ipProgram = findProgram('ip', 'the package iproute2');
  const bridge = findProgram('bridge', 'the package iproute2');
  const nft = findProgram('nft', 'the package nftables');
  const dnsmasq = findProgram('dnsmasq', 'the package dnsmasq-base');
  if (hosts && isIP(hosts.address) === 0)
    throw new QemuError('NETWORKS_UNAVAILABLE', `tunnels need the host's address as a number, not '${hosts.address}'`);
  const names = await claimNames(directory, hosts ? tunnelPort : null);
  const ip = new IpTool(ipProgram, names);
  await loadBridgeFilter();
  const folder = join(directory, 'networks');
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const dhcp = new DhcpServers(folder, dnsmasq, ip, names);
  const nameservers = await resolvers();
  const builder = new Builder({ ip, names, nft, bridge, dhcp, tapOwner: runAs?.uid ?? 0, nameservers, log });

  /** What there is to build now; routers of this host are those without one. */
  const wanted = async (places: MachinePlaces): Promise<{ readonly plan: NetworkPlan; readonly tunnels?: Tunnels }> => {
    const ids = await places.machineIds();
    if (!hosts) return { plan: checkedPlan(await networkPlan(ids)) };
    const { self } = hosts;
    const { tunnels, alive } = await hostsNow(hosts, tunnelPort);
    const { routers, ...plan } = checkedPlan(await networkPlan(ids, { self, alive }));
    return {
      tunnels,
      plan: {
        ...plan,
        routers: routers.map((router) => (router.host === self ? { ...router, host: null } : router)),
      },
    };
  };

  return (places) => {
    let built: NetworkPlan = { networks: [], ports: [], routers: [], rules: [], members: {} };
    const metadata = new MetadataService({
      ip,
      address: SERVICE_ADDRESS,
      guest: (namespace, address) => guestAt(built, names, places, namespace, address),
      log,
    });
    // Devices are looked at when something has changed or is to start, and from time to time.
    let looked = { plan: '', at: 0 };
    let routersHere = '';
    const tellRouters = ({ routers }: NetworkPlan) => {
      const ids = routers.flatMap(({ id, host }) => (host === null ? [id] : [])).join(', ');
      if (ids !== routersHere) log(`routers here: ${ids || 'none'}`);
      routersHere = ids;
    };
    const rounds = new Rounds(async () => {
      const { plan, tunnels } = await wanted(places);
      const text = JSON.stringify([plan, tunnels?.local, [...(tunnels?.peers ?? [])]]);
      if (looked.plan === text && Date.now() - looked.at < HEAL_MS) return;
      looked = { plan: '', at: 0 };
      const spaces = servedNetworks(plan).map(({ id }) => names.service(id));
      // A namespace lasts as long as somebody listens in it.
      await metadata.keepIn(spaces);
      await builder.build(plan, tunnels);
      built = plan;
      if (tunnels) tellRouters(plan);
      await metadata.listenIn(spaces);
      looked = { plan: text, at: Date.now() };
    });
    let complaint = '';
    const look = () =>
      rounds.run().then(
        () => {
          complaint = '';
        },
        (error: Error) => {
          // It is tried again; the same trouble is told once.
          if (error.message !== complaint) log(`networks could not be built: ${error.message}`);
          complaint = error.message;
        },
      );
    const silence = onNetworkChange(() => void look());
    const timer = setInterval(() => void look(), LOOK_MS).unref();
    return {
      async connect(server, interfaces, starting) {
        if (starting) await keepStory(places.folderOf(server.id), server, interfaces);
        looked.at = 0;
        await rounds.run();
        return interfaces.map(({ portId }) => ({
          type: 'tap',
          ifname: names.tap(portId),
          script: 'no',
          downscript: 'no',
        }));
      },
      async counters({ interfaces }) {
        const counted = await ip.counters();
        return interfaces.flatMap(({ portId, mac }) => {
          const traffic = counted.get(names.tap(portId));
          return traffic ? [nicCounters(mac, traffic)] : [];
        });
      },
      release: () => rounds.run(),
      async leave() {
        clearInterval(timer);
        silence();
        await rounds.rest();
        await metadata.leave();
      },
    };
  };
}
