import { isIPv4 } from 'node:net';
import { checkOptions } from '@apistrata/compute-engine/api';
import { parseForward } from './forwards/forward-rule.js';
import type { Acceleration } from './programs/acceleration.js';
import type { RunAs } from './programs/run-program.js';

/** How virtual machines are run on this computer. */
export interface QemuOptions {
  /** Folder of machines and images, made when missing. Its path has at most 55 bytes, for sockets are in it. */
  readonly directory: string;
  /** `auto` (the default): KVM where a probe guest really runs with it, else TCG. */
  readonly acceleration?: Acceleration | 'auto';
  /** The program; default `qemu-system-x86_64`, from the path. */
  readonly program?: string;
  /**
   * User and group that machines run as. Default: those of this process; where that is root, `nobody` (65534) and, with KVM,
   * the group that may use it.
   */
  readonly runAs?: RunAs;
  /**
   * Whether the content of volumes is on this computer. Default: it is. Of hosts that are processes of their own one keeps it, and
   * false is for the others, whose servers reach it there.
   */
  readonly volumes?: boolean;
  /**
   * `user` (the default): each guest has networks to itself, nobody needs privileges. `bridge`: networks of this computer's kernel,
   * with routers, floating addresses and security groups; needs root, `ip`, `nft` and `dnsmasq`, and the embedded network service.
   */
  readonly networkMode?: 'user' | 'bridge';
  /**
   * UDP port at which networks of hosts that are processes of their own meet, with `bridge`; default 4789. Another one for each host
   * on the same computer.
   */
  readonly tunnelPort?: number;
  /**
   * Ports of this computer that lead to guests: `[NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp]`. `2222:22` is for the first server that
   * starts, `web:8080:80` for servers named so, and of `2200-2299:22` each server gets a port of its own. Which it has got is told to
   * `log`, and stays so for the server's life. With the network mode `user` only.
   */
  readonly forward?: readonly string[];
  /** Address of this computer that `forward` listens on. Default 127.0.0.1. */
  readonly forwardAddress?: string;
  /** Told what administrators should know, in a line. */
  readonly log?: (line: string) => void;
  /** How long a guest may take to end by itself after its power button was pressed, in milliseconds. Default 60,000. */
  readonly shutdownTimeoutMs?: number;
  /**
   * Folder on storage that several hosts reach and that keeps locks for them (NFS 4, CephFS, ...): disks and images are there, and
   * machines move between those hosts without them. Default: none, disks are in `directory`.
   */
  readonly sharedDirectory?: string;
  /**
   * How long a machine waits for a disk that a process has open which may be on another computer, in milliseconds; shared storage
   * keeps locks of a computer that was lost for a minute or two. Default 120,000.
   */
  readonly diskWaitMs?: number;
  /** The most that a machine which moves to another host takes of the network, in MiB a second; for disks and memory each. Default: no bound. */
  readonly moveMibPerSecond?: number;
  /**
   * The size of the image cache, in GiB: the least recently used images are removed first. Images that machines lean on take their
   * space all the same. Default: half of the file system.
   */
  readonly imageCacheGib?: number;
}

const optionNames: Readonly<Record<keyof QemuOptions, true>> = {
  directory: true,
  acceleration: true,
  program: true,
  runAs: true,
  volumes: true,
  networkMode: true,
  tunnelPort: true,
  forward: true,
  forwardAddress: true,
  log: true,
  shutdownTimeoutMs: true,
  sharedDirectory: true,
  diskWaitMs: true,
  moveMibPerSecond: true,
  imageCacheGib: true,
};

/** @throws TypeError for options that there are not, or that cannot be */
export function checkQemuOptions(place: string, options: QemuOptions): void {
  checkOptions(place, options, optionNames);
  for (const text of options.forward ?? []) parseForward(text);
  const { forwardAddress, networkMode = 'user', tunnelPort } = options;
  if (networkMode !== 'user' && networkMode !== 'bridge')
    throw new TypeError(`${place}: networkMode is user or bridge, not '${networkMode}'`);
  if (networkMode === 'bridge' && options.forward?.length)
    throw new TypeError(`${place}: forward is for the network mode user; with bridges there are floating addresses`);
  if (tunnelPort !== undefined && !(Number.isInteger(tunnelPort) && tunnelPort >= 1 && tunnelPort <= 65_535))
    throw new TypeError(`${place}: tunnelPort is a port, 1 to 65535, not '${tunnelPort}'`);
  if (forwardAddress !== undefined && !isIPv4(forwardAddress))
    throw new TypeError(`${place}: forwardAddress is an IPv4 address of this computer, not '${forwardAddress}'`);
}
