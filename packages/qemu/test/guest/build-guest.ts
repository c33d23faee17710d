import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files that a virtual machine boots from. */
export interface Guest {
  readonly kernel: string;
  readonly ramdisk: string;
}

/** The kernel modules for the guest's devices. Each module follows its dependencies. */
export const MODULES: readonly string[] = [
  'virtio_ring',
  'virtio',
  'virtio_pci_legacy_dev',
  'virtio_pci_modern_dev',
  'virtio_pci',
  'virtio_blk',
  'failover',
  'net_failover',
  'virtio_net',
  'virtio_console',
  'scsi_common',
  'scsi_mod',
  'virtio_scsi',
  'sd_mod',
  'fat',
  'vfat',
  'nls_cp437',
  'nls_ascii',
  'button',
  'pvpanic',
  'pvpanic-mmio',
  'evdev',
];

/**
 * The kernel parameters. They disable features that short-lived guests do not need: self-tests, certificates, tracing,
 * mitigations, calibration. Without KVM, these take a fifth of the boot time.
 */
export const COMMAND_LINE = [
  'console=ttyS0 quiet nokaslr mitigations=off apparmor=0 audit=0 cryptomgr.notests noreplace-smp',
  'tsc=reliable no_timer_check lpj=4000000 random.trust_cpu=on',
  'initcall_blacklist=init_kprobe_trace,trace_eval_init,init_blk_tracer,load_system_certificate_list,init_encrypted,init_ima',
].join(' ');

export const BUSYBOX = '/bin/busybox';

/** Returns the version of the newest installed kernel that the distribution builds for clouds. */
function kernelVersion(): string | undefined {
  const prefix = 'vmlinuz-';
  const [newest] = readdirSync('/boot')
    .filter((name) => name.startsWith(prefix) && name.endsWith('-cloud-amd64'))
    .map((name) => name.slice(prefix.length))
    .filter((version) => existsSync(`/lib/modules/${version}/kernel`))
    .sort()
    .reverse();
  return newest;
}

function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

/** Returns the missing requirement for running guests on this machine; undefined if all are met. */
export function missingForGuests(): string | undefined {
  if (!hasProgram('qemu-system-x86_64') || !hasProgram('qemu-img')) return 'QEMU (qemu-system-x86, qemu-utils)';
  if (!existsSync(BUSYBOX)) return 'busybox-static';
  if (!hasProgram('cpio')) return 'cpio';
  if (!existsSync('/boot') || !kernelVersion()) return 'a kernel (linux-image-cloud-amd64)';
  return undefined;
}

function findModules(root: string): Map<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ko'));
  return new Map(files.map((name) => [name.split('/').at(-1)!.slice(0, -3), join(root, name)]));
}

/** The distribution's own agent, which replaces the minimal one in some guests. */
const AGENT = '/usr/sbin/qemu-ga';

/** Like `missingForGuests`, for guests with the distribution's own agent. */
export function missingForAgents(): string | undefined {
  return missingForGuests() ?? (existsSync(AGENT) && hasProgram('ldd') ? undefined : 'qemu-guest-agent');
}

/** An SSH server, for logins with a key. */
const SSH_SERVER = '/usr/sbin/dropbear';

/** Like `missingForGuests`, for guests with a login shell. */
export function missingForLogins(): string | undefined {
  if (!hasProgram('ssh') || !hasProgram('ssh-keygen')) return 'openssh-client';
  return missingForGuests() ?? (existsSync(SSH_SERVER) && hasProgram('ldd') ? undefined : 'dropbear-bin');
}

/** Returns the paths of the libraries that a program needs. */
function librariesOf(program: string): readonly string[] {
  const lddOutput = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...lddOutput.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path!);
}

export interface GuestOptions {
  /** Whether the guest has the agent from the package `qemu-guest-agent`. */
  readonly realAgent?: boolean;
  /** Whether root can log in with the key of its server. */
  readonly logins?: boolean;
  /** Additional kernel modules. Each follows its dependencies. */
  readonly modules?: readonly string[];
}

/** Copies a file to the files of a guest's ramdisk. */
export function putFile(root: string, from: string, to: string, executable = false): void {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(from, join(root, to));
  if (executable) chmodSync(join(root, to), 0o755);
}

/** Creates the guest's ramdisk in a folder, from the distribution's packages. This takes less than a second. */
export function buildGuest(
  folder: string,
  { realAgent = false, logins = false, modules = [] }: GuestOptions = {},
): Guest {
  const root = join(folder, 'root');
  const here = import.meta.dirname;
  const put = (from: string, to: string, executable = false) => putFile(root, from, to, executable);
  put(BUSYBOX, 'bin/busybox', true);
  put(join(here, 'init.sh'), 'init', true);
  put(join(here, 'udhcpc.sh'), 'udhcpc.sh', true);
  put(join(here, 'agent.sh'), 'agent.sh', true);
  for (const program of [...(realAgent ? [AGENT] : []), ...(logins ? [SSH_SERVER] : [])])
    for (const file of [program, ...librariesOf(program)]) put(file, file.slice(1), true);
  if (realAgent) put(join(here, 'chpasswd.sh'), 'bin/chpasswd', true);
  return packGuest(folder, root, [...MODULES, ...(realAgent ? ['virtio_balloon'] : []), ...modules]);
}

/** Adds kernel modules to the files of a ramdisk, and writes the ramdisk and the kernel to a folder. */
export function packGuest(folder: string, root: string, required: readonly string[]): Guest {
  const version = kernelVersion();
  if (!version) throw new Error('missing kernel for guests on this machine');
  const modules = findModules(`/lib/modules/${version}/kernel`);
  const there = required.filter((name) => modules.has(name));
  for (const name of there) putFile(root, modules.get(name)!, `modules/${name}.ko`);
  writeFileSync(join(root, 'modules/order'), `${there.join('\n')}\n`);
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const archive = execFileSync('cpio', ['--create', '--format=newc', '--quiet'], {
    cwd: root,
    input: `${names.join('\n')}\n`,
    maxBuffer: 64 * 2 ** 20,
  });
  const ramdisk = join(folder, 'ramdisk');
  writeFileSync(ramdisk, archive);
  const kernel = join(folder, 'kernel');
  copyFileSync(`/boot/vmlinuz-${version}`, kernel);
  if (statSync(kernel).size === 0) throw new Error('the kernel for guests is empty');
  return { kernel, ramdisk };
}
