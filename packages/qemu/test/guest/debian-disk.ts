import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../../../testing/servers.js';
import { buildDisk, missingForBootLoaders } from './boot-disk.js';

/** The packages of Debian's own cloud images, without those that small images do not need. */
const PACKAGES = [
  'ca-certificates',
  'cloud-guest-utils',
  'cloud-init',
  'dbus',
  'fdisk',
  'iproute2',
  'libnss-myhostname',
  'linux-image-cloud-amd64',
  'netbase',
  'openssh-server',
  'qemu-guest-agent',
  'sudo',
  'systemd-sysv',
  'udev',
];

/** Files that a guest does not need. They are deleted, so that the disk is smaller and is copied faster. */
const SUPERFLUOUS = ['var/cache/apt/archives', 'usr/share/doc', 'usr/share/man', 'usr/share/locale'];

const BUILD_MS = 900_000;

/** A release of Debian. */
export type DebianRelease = 'bookworm' | 'trixie';

/** Returns this computer's Debian release; undefined if it does not run Debian. */
function installedRelease(): string | undefined {
  if (!existsSync('/etc/debian_version')) return undefined;
  return /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
}

/**
 * Returns the missing requirement for creating a disk with Debian on this machine; undefined if all are met.
 *
 * @param release default: this computer's release
 */
export function missingForDebian(release?: DebianRelease): string | undefined {
  if (!findProgram('mmdebstrap')) return 'mmdebstrap';
  if (!findProgram('ssh')) return 'openssh-client';
  if (process.getuid?.() !== 0 || !installedRelease()) return 'root rights on Debian';
  if (release && !existsSync(`/usr/share/keyrings/debian-archive-${release}-stable.gpg`))
    return `signing keys of ${release} (debian-archive-keyring)`;
  return missingForBootLoaders();
}

/**
 * Creates a qcow2 disk with Debian, cloud-init and an SSH server, from the distribution's packages. The disk contains
 * no reference to the cloud that boots it.
 *
 * @returns the disk's path; undefined if the distribution's packages cannot be downloaded
 */
export function buildDebianDisk(folder: string, megabytes: number, release = installedRelease()): string | undefined {
  const files = join(folder, 'debian');
  const hooks = [
    'chroot "$1" systemctl enable systemd-networkd',
    `cd "$1" && rm -rf ${SUPERFLUOUS.map((path) => `${path}/*`).join(' ')}`,
  ];
  const result = spawnSync(
    'mmdebstrap',
    [
      ...['--quiet', '--mode=root', '--variant=apt', `--include=${PACKAGES.join(',')}`],
      ...['--aptopt=Apt::Install-Recommends "false"', ...hooks.map((hook) => `--customize-hook=${hook}`)],
      ...[release ?? '', files],
    ],
    { encoding: 'utf8', timeout: BUILD_MS },
  );
  if (result.status !== 0) {
    if (/Failed to fetch|Could not resolve|Temporary failure|Unable to connect/.test(result.stderr)) return undefined;
    throw new Error(`mmdebstrap failed:\n${result.stderr}`);
  }
  const raw = join(folder, 'debian.raw');
  const disk = join(folder, 'debian.qcow2');
  const commandLine = 'root=/dev/vda1 rw console=ttyS0';
  buildDisk(raw, { files, kernel: '/vmlinuz', ramdisk: '/initrd.img', commandLine, megabytes });
  rmSync(files, { recursive: true, force: true });
  execFileSync('qemu-img', ['convert', '-O', 'qcow2', raw, disk]);
  rmSync(raw);
  return disk;
}
