import { isIPv4 } from 'node:net';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type CpuMode, parseCpuOptions } from './cpu/cpu-options.js';
import { parseForward } from './forwards/forward-rule.js';
import { DEFAULT_TUNNEL_PORT, DEFAULT_WIREGUARD_PORT } from './network/tunnels.js';
import type { Acceleration } from './programs/acceleration.js';
import type { RunAs } from './programs/run-program.js';
import { parseThinPool } from './volumes/lvm-backend.js';

/** Options for the QEMU driver. */
export interface QemuOptions {
  /**
   * Directory for machines and images, created if missing. It contains sockets, so its path may have at most 55 bytes.
   */
  readonly directory: string;
  /** `auto` (the default) selects KVM if a probe guest runs with KVM, otherwise TCG. */
  readonly acceleration?: Acceleration | 'auto';
  /** Name or path of the QEMU program. Default `qemu-system-x86_64`. */
  readonly program?: string;
  /**
   * User and group that run QEMU. Default: those of this process; for root, the unprivileged user 65534 and, if KVM is
   * available, the group that owns `/dev/kvm`.
   */
  readonly runAs?: RunAs;
  /**
   * Whether this host stores the content of volumes. Default true. Servers on all hosts access the volumes over links.
   */
  readonly volumes?: boolean;
  /**
   * LVM thin pool that stores the content of volumes, as `GROUP/POOL`. Needs root and LVM. Default: none; the content is
   * in files in `directory`.
   */
  readonly volumePool?: string;
  /**
   * `user` (the default): QEMU emulates a separate network for each interface, which needs no privileges. `bridge`:
   * this computer's kernel implements networks, with routers, floating addresses and security groups; needs root, `ip`,
   * `nft` and `dnsmasq`, and the embedded network service.
   */
  readonly networkMode?: 'user' | 'bridge';
  /**
   * UDP port of the VXLAN tunnels between host processes, for the network mode `bridge`. Default 4789. Must differ
   * between hosts on the same computer.
   */
  readonly tunnelPort?: number;
  /**
   * `wireguard`: WireGuard encrypts the tunnels between host processes, for the network mode `bridge`; needs `wg`, and
   * WireGuard in the kernel or `wireguard-go`. All hosts must have the same value: hosts with different values have no
   * tunnels to each other. Default `off`.
   */
  readonly tunnelEncryption?: 'off' | 'wireguard';
  /** UDP port of WireGuard. Default 51820. */
  readonly wireguardPort?: number;
  /**
   * Network devices by physical network name, such as `{ lan: 'br0' }`, for the network mode `bridge`. Each is a bridge
   * of this computer, or an interface without addresses. Guests in networks with that `provider:physical_network` are
   * connected to the device.
   */
  readonly providerNetworks?: Readonly<Record<string, string>>;
  /**
   * Whether interfaces use `/dev/vhost-net`, for the network mode `bridge` with KVM, if the user that runs QEMU can
   * open it. Default true. `log` receives the decision and its reason.
   */
  readonly vhostNet?: boolean;
  /**
   * Host ports to forward to guests, for the network mode `user`: `[NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp]`. `2222:22`
   * applies to the first server that starts, and `web:8080:80` to servers with the name `web`; `2200-2299:22` gives
   * each server its own port. `log` receives the assigned port, which stays the same for the lifetime of the server.
   */
  readonly forward?: readonly string[];
  /** Host address on which the forwarded ports listen. Default 127.0.0.1. */
  readonly forwardAddress?: string;
  /** Called with each log line for administrators. */
  readonly log?: (line: string) => void;
  /** How long a guest may take to shut down before it is powered off, in milliseconds. Default 60,000. */
  readonly shutdownTimeoutMs?: number;
  /**
   * Directory for disks and images on storage that several hosts share and that supports file locks (NFS 4, CephFS,
   * ...). Machines move between these hosts without copying disks. Default: none; disks are in `directory`.
   */
  readonly sharedDirectory?: string;
  /**
   * How long to wait for a disk that another process has locked, possibly on another host, in milliseconds. Shared
   * storage keeps the locks of a lost host for a minute or two. Default 120,000.
   */
  readonly diskWaitMs?: number;
  /** Maximum bandwidth of a live migration in MiB per second, for disks and for memory separately. Default: unlimited. */
  readonly moveMibPerSecond?: number;
  /**
   * Maximum size of the image cache in GiB. The least recently used images are removed first, but those that machines
   * use continue to occupy space. Default: half of the file system.
   */
  readonly imageCacheGib?: number;
  /**
   * The CPU that guests see. `host-passthrough` (the default): this computer's CPU, or with `tcg` a CPU with all
   * features that QEMU emulates; guests can migrate only to hosts with the same CPU. `host-model`: the same features as
   * an explicit list, so that guests can migrate to all hosts that provide these features. `custom`: the CPU that
   * `cpuModel` names.
   */
  readonly cpuMode?: CpuMode;
  /**
   * The guest CPU model for the CPU mode `custom`: a QEMU model (`Nehalem`, `Haswell-noTSX`, `EPYC`, ...), or an x86-64
   * ABI level (`x86-64-v2`, `x86-64-v2-AES`, `x86-64-v3` or `x86-64-v4`).
   */
  readonly cpuModel?: string;
  /**
   * CPU features to enable (`+pcid`, `pcid`) or disable (`-avx2`), in any CPU mode. This host does not provide a
   * disabled feature to any guest, including guests that migrate to it.
   */
  readonly cpuFeatures?: readonly string[];
}

const KNOWN_OPTIONS: Readonly<Record<keyof QemuOptions, true>> = {
  directory: true,
  acceleration: true,
  program: true,
  runAs: true,
  volumes: true,
  volumePool: true,
  networkMode: true,
  tunnelPort: true,
  tunnelEncryption: true,
  wireguardPort: true,
  providerNetworks: true,
  vhostNet: true,
  forward: true,
  forwardAddress: true,
  log: true,
  shutdownTimeoutMs: true,
  sharedDirectory: true,
  diskWaitMs: true,
  moveMibPerSecond: true,
  imageCacheGib: true,
  cpuMode: true,
  cpuModel: true,
  cpuFeatures: true,
};

/** Validates the options of the QEMU driver. @throws TypeError if an option is unknown or invalid */
export function checkQemuOptions(place: string, options: QemuOptions): void {
  checkOptions(place, options, KNOWN_OPTIONS);
  for (const text of options.forward ?? []) parseForward(text);
  parseCpuOptions(place, options);
  if (options.volumePool !== undefined) parseThinPool(place, options.volumePool);
  const { forwardAddress, networkMode = 'user', tunnelEncryption = 'off' } = options;
  const { tunnelPort = DEFAULT_TUNNEL_PORT, wireguardPort = DEFAULT_WIREGUARD_PORT } = options;
  if (networkMode !== 'user' && networkMode !== 'bridge')
    throw new TypeError(`${place}: networkMode must be user or bridge, not '${networkMode}'`);
  if (networkMode === 'bridge' && options.forward?.length)
    throw new TypeError(`${place}: forward works only with the network mode user; with bridge, use floating addresses`);
  if (networkMode !== 'bridge' && Object.keys(options.providerNetworks ?? {}).length > 0)
    throw new TypeError(`${place}: providerNetworks works only with the network mode bridge`);
  if (tunnelEncryption !== 'off' && tunnelEncryption !== 'wireguard')
    throw new TypeError(`${place}: tunnelEncryption must be off or wireguard, not '${tunnelEncryption}'`);
  if (networkMode !== 'bridge' && tunnelEncryption !== 'off')
    throw new TypeError(`${place}: tunnelEncryption works only with the network mode bridge`);
  for (const [name, port] of Object.entries({ tunnelPort, wireguardPort }))
    if (!(Number.isInteger(port) && port >= 1 && port <= 65_535))
      throw new TypeError(`${place}: ${name} must be a port from 1 to 65535, not '${port}'`);
  if (tunnelEncryption === 'wireguard' && tunnelPort === wireguardPort)
    throw new TypeError(`${place}: tunnelPort and wireguardPort must differ, but both are ${tunnelPort}`);
  if (forwardAddress !== undefined && !isIPv4(forwardAddress))
    throw new TypeError(`${place}: forwardAddress must be an IPv4 address of this computer, not '${forwardAddress}'`);
}
