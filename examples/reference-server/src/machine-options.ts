import { z } from 'zod';
import { choice, flag, integer, list, pairs, text } from './option-kinds.js';

/** The options that determine how this computer runs servers. */
export const machineOptions = {
  driver: choice(
    'KIND',
    ['simulated', 'qemu', 'none'],
    'simulated',
    'how servers run: simulated, qemu (virtual machines on this computer), or none (every host is a separate process)',
  ),
  'machine-dir': text('DIR', 'folder for the files of virtual machines', 'data/machines'),
  'shared-dir': text('DIR', 'folder on shared storage for disks; hosts that share it move machines without copying'),
  'image-cache-gib': integer('size limit of the image cache of this host, in GiB (default: half of its file system)', {
    min: 1,
    max: 1_000_000,
    fallback: undefined,
  }),
  'volume-pool': text(
    'GROUP/POOL',
    'LVM thin pool for the content of volumes on this host (needs root); default: files in --machine-dir',
  ),
  acceleration: choice(
    'KIND',
    ['auto', 'kvm', 'tcg'],
    'auto',
    'kvm, tcg (slow, works everywhere), or auto: kvm if a probe guest runs with it, otherwise tcg',
  ),
  'cpu-mode': choice(
    'MODE',
    ['host-passthrough', 'host-model', 'custom'],
    'host-passthrough',
    'the CPU that guests see: host-passthrough (the CPU of this computer), host-model (the same, but guests can move to hosts with more features), or custom (--cpu-model)',
  ),
  'cpu-model': text(
    'MODEL',
    'CPU model of guests with --cpu-mode custom: x86-64-v2-AES, another level of the x86-64 ABI, or a QEMU model such as EPYC',
  ),
  'cpu-feature': list(
    '[+|-]NAME',
    'CPU feature to enable (+aes or aes) or disable (--cpu-feature=-avx2) for guests, with any --cpu-mode',
  ),
  'console-port': integer(
    'port of the console proxy (default 6080, or a free port if that is in use); set its public URL with --setting consoleProxyUrl=...',
    { min: 0, max: 65_535, fallback: undefined },
  ),
  'network-mode': choice(
    'MODE',
    ['user', 'bridge'],
    'user',
    'user (outgoing connections; incoming ones only with --forward) or bridge (networks, routers, floating IPs, security groups; needs root)',
  ),
  'provider-network': pairs(
    'NAME=DEVICE',
    {},
    'a physical network of this computer (with --network-mode bridge): a bridge, or an interface without addresses',
    { names: /^[\w.-]+$/, schema: z.string().min(1) },
  ),
  'no-vhost-net': flag(
    'do not use /dev/vhost-net for interfaces of virtual machines (with --network-mode bridge and KVM); default: used if the user that runs the machines can open it',
  ),
  forward: list(
    '[[PROJECT/]NAME:]PORT:GUESTPORT',
    'port on this computer that is forwarded to a port on a server; PORT may be a range, with one port per server; PROJECT is an ID, needed if several projects have servers with that name',
  ),
  'forward-address': text('ADDRESS', 'address that --forward listens on', '127.0.0.1'),
} as const;
