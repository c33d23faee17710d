import { isIPv4 } from 'node:net';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type CpuMode, requestedCpu } from './cpu/cpu-options.js';
import { parseForward } from './forwards/forward-rule.js';
import { DEFAULT_TUNNEL_PORT, DEFAULT_WIREGUARD_PORT } from './network/tunnels.js';
import type { Acceleration } from './programs/acceleration.js';
import type { RunAs } from './programs/run-program.js';

/** Options of the driver for virtual machines on this computer. */
export interface QemuOptions {
  /** Folder of machines and images, created if missing. Its path has at most 55 bytes, because it contains sockets. */
  readonly directory: string;
  /** `auto` (the default): KVM if a probe guest runs with it, otherwise TCG. */
  readonly acceleration?: Acceleration | 'auto';
  /** The QEMU program; default `qemu-system-x86_64`, found in PATH. */
  readonly program?: string;
  /**
   * User and group that run machines. Default: those of this process; if that is root, the unprivileged user 65534 and, with KVM,
   * the group that may use it.
   */
  readonly runAs?: RunAs;
  /**
   * Whether this computer stores the content of volumes. Default true. If there are several host processes, one of them
   * stores the content; set it to `false` on the others; their servers access the volumes on that host.
   */
  readonly volumes?: boolean;
  /**
   * `user` (the default): each guest has a separate network, without privileges. `bridge`: networks of this computer's
   * kernel, with routers, floating addresses and security groups; needs root, `ip`, `nft` and `dnsmasq`, and the
   * embedded network service.
   */
  readonly networkMode?: 'user' | 'bridge';
  /**
   * UDP port of the tunnels between host processes, with `bridge`; default 4789. Must differ between hosts on the same
   * computer.
   */
  readonly tunnelPort?: number;
  /**
   * `wireguard`: WireGuard encrypts the tunnels between host processes, with `bridge`; needs `wg`, and WireGuard in the kernel
   * or `wireguard-go`. All hosts must have the same value, because there are no tunnels between hosts that differ. Default `off`.
   */
  readonly tunnelEncryption?: 'off' | 'wireguard';
  /** WireGuard UDP port; default 51820. */
  readonly wireguardPort?: number;
  /**
   * Devices of this computer by the names of physical networks, with `bridge`: bridges, or interfaces without
   * addresses, such as `{ lan: 'br0' }`. Guests of networks with `provider:physical_network` are connected to them.
   */
  readonly providerNetworks?: Readonly<Record<string, string>>;
  /**
   * Whether machine interfaces use the kernel's `/dev/vhost-net`, with `bridge` and KVM, if the user that runs machines
   * can open it. Default true. The decision and its reason are reported to `log`.
   */
  readonly vhostNet?: boolean;
  /**
   * Ports of this computer that are forwarded to guests: `[NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp]`. `2222:22` applies to
   * the first server that starts, `web:8080:80` to servers with that name, and with `2200-2299:22` each server gets its
   * own port. The assigned port is reported to `log`, and stays the same for the lifetime of the server. Only with the
   * network mode `user`.
   */
  readonly forward?: readonly string[];
  /** Address of this computer on which `forward` listens. Default 127.0.0.1. */
  readonly forwardAddress?: string;
  /** Receives log lines for administrators. */
  readonly log?: (line: string) => void;
  /** How long a guest may take to shut down after its power button was pressed, in milliseconds. Default 60,000. */
  readonly shutdownTimeoutMs?: number;
  /**
   * Folder on storage that several hosts share and that supports locks (NFS 4, CephFS, ...): disks and images are
   * stored there, and machines move between those hosts without copying them. Default: none; disks are in `directory`.
   */
  readonly sharedDirectory?: string;
  /**
   * Maximum wait in milliseconds for a disk that a process has locked, possibly on another computer; shared storage
   * keeps locks of a lost computer for a minute or two. Default 120,000.
   */
  readonly diskWaitMs?: number;
  /** Bandwidth limit of a move to another host in MiB per second, for disks and for memory separately. Default: unlimited. */
  readonly moveMibPerSecond?: number;
  /**
   * Maximum size of the image cache in GiB: the least recently used images are removed first. Images that machines use
   * occupy space in any case. Default: half of the file system.
   */
  readonly imageCacheGib?: number;
  /**
   * The CPU that guests see. `host-passthrough` (the default): that of this computer, or with `tcg` all features that QEMU
   * emulates; guests move only to hosts with the same one. `host-model`: the same features, listed explicitly, so that guests
   * move to all hosts that provide these. `custom`: the one that `cpuModel` names.
   */
  readonly cpuMode?: CpuMode;
  /**
   * The guest CPU model, with the mode `custom`: a QEMU model (`Nehalem`, `Haswell-noTSX`, `EPYC`, ...), or
   * `x86-64-v2`, `x86-64-v2-AES`, `x86-64-v3` or `x86-64-v4`, the levels of the x86-64 ABI.
   */
  readonly cpuModel?: string;
  /**
   * Features that are switched on (`+pcid`, `pcid`) or off (`-avx2`), with any mode. This host does not provide a
   * feature that is switched off to any guest, including guests that move to this host.
   */
  readonly cpuFeatures?: readonly string[];
}

const optionNames: Readonly<Record<keyof QemuOptions, true>> = {
  directory: true,
  acceleration: true,
  program: true,
  runAs: true,
  volumes: true,
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

/** Validates options. @throws TypeError if an option is unknown or invalid */
export function checkQemuOptions(place: string, options: QemuOptions): void {
  checkOptions(place, options, optionNames);
  for (const text of options.forward ?? []) parseForward(text);
  requestedCpu(place, options);
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
