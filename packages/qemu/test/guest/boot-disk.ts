import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { COMMAND_LINE, type Guest, missingForGuests } from './build-guest.js';

const SECTOR_BYTES = 512;
/** The offset of the first partition; the boot loader is between the first sector and this offset. */
const FIRST_SECTOR = 2048;
const PARTITION_TABLE_AT = 446;
const LINUX = 0x83;
const ACTIVE = 0x80;
const GRUB = '/usr/lib/grub/i386-pc';
const GRUB_MODULES = ['biosdisk', 'part_msdos', 'ext2', 'linux', 'boot', 'echo', 'serial', 'terminal'];

const CD_MODULES = ['biosdisk', 'iso9660', 'linux', 'boot', 'echo', 'serial', 'terminal'];
const EFI_GRUB = '/usr/lib/grub/x86_64-efi';
const EFI_MODULES = ['part_msdos', 'fat', 'search', 'linux', 'boot', 'echo', 'serial', 'terminal', 'efi_gop', 'normal'];

/** Returns the missing requirement for disks with a UEFI boot loader; undefined if all are met. */
export function missingForUefi(): string | undefined {
  if (!existsSync(join(EFI_GRUB, 'moddep.lst'))) return 'grub-efi-amd64-bin';
  if (!existsSync('/usr/share/qemu/firmware')) return 'ovmf';
  return missingForBootLoaders();
}

/** Debian's boot loaders, which start with secure boot: Microsoft's key signs the first, Debian's key GRUB and the kernel. */
const SHIM = '/usr/lib/shim/shimx64.efi.signed';
const SIGNED_GRUB = '/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed';

/** Returns the missing requirement for disks with signed boot loaders; undefined if all are met. */
export function missingForSignedLoaders(): string | undefined {
  if (!existsSync(SHIM)) return 'shim-signed';
  if (!existsSync(SIGNED_GRUB)) return 'grub-efi-amd64-signed';
  return missingForUefi();
}

/** Returns the missing requirement for disks with a boot loader; undefined if all are met. */
export function missingForBootLoaders(): string | undefined {
  if (!existsSync(join(GRUB, 'boot.img'))) return 'grub-pc-bin';
  if (!existsSync('/usr/bin/grub-mkimage')) return 'grub-common';
  if (!existsSync('/usr/bin/xorriso')) return 'xorriso';
  return missingForGuests();
}

/**
 * Returns an entry of a partition table. Cylinders are not set, because current firmware and boot loaders read only
 * sectors.
 */
export function partition(type: number, first: number, sectors: number, active = false): Buffer {
  const entry = Buffer.alloc(16);
  entry[0] = active ? ACTIVE : 0;
  entry[4] = type;
  entry.writeUInt32LE(first, 8);
  entry.writeUInt32LE(sectors, 12);
  return entry;
}

/** Writes GRUB and a partition table to the beginning of a disk, as `grub-install` does. */
export function installGrub(disk: string, core: string, partitions: readonly Buffer[]): void {
  const first = Buffer.alloc(SECTOR_BYTES);
  readFileSync(join(GRUB, 'boot.img')).copy(first, 0, 0, PARTITION_TABLE_AT);
  partitions.forEach((entry, index) => {
    entry.copy(first, PARTITION_TABLE_AT + index * entry.length);
  });
  first.writeUInt16LE(0xaa55, SECTOR_BYTES - 2);
  const loader = readFileSync(core);
  if (loader.length > (FIRST_SECTOR - 1) * SECTOR_BYTES)
    throw new Error('grub does not fit before the first partition');
  const file = openSync(disk, 'r+');
  try {
    writeSync(file, first, 0, first.length, 0);
    writeSync(file, loader, 0, loader.length, SECTOR_BYTES);
  } finally {
    closeSync(file);
  }
}

/** Creates a CD that a BIOS boots through El Torito. It contains GRUB and the kernel. */
export function buildBootCd(folder: string, { kernel, ramdisk }: Guest): string {
  const disk = join(folder, 'boot-cd.iso');
  const files = join(folder, 'cd-files');
  const config = join(folder, 'cd-grub.cfg');
  mkdirSync(files, { recursive: true });
  copyFileSync(kernel, join(files, 'vmlinuz'));
  copyFileSync(ramdisk, join(files, 'ramdisk'));
  writeFileSync(config, `${FIRST_OUTPUT}linux /vmlinuz ${COMMAND_LINE}\ninitrd /ramdisk\nboot\n`);
  const target = ['-O', 'i386-pc-eltorito', '-p', '(cd)/', '-c', config, '-o', join(files, 'core.img')];
  execFileSync('/usr/bin/grub-mkimage', [...target, ...CD_MODULES]);
  const boot = ['-b', 'core.img', '-no-emul-boot', '-boot-load-size', '4', '-boot-info-table'];
  execFileSync('/usr/bin/xorriso', ['-as', 'mkisofs', '-quiet', ...boot, '-o', disk, files], { stdio: 'ignore' });
  rmSync(files, { recursive: true, force: true });
  return disk;
}

const FIRST_OUTPUT = 'serial --unit=0\nterminal_output serial\necho LOADER begins\n';

/**
 * Creates a disk that UEFI firmware boots. Its FAT partition contains the kernel, and GRUB as the default boot loader.
 * @param signed whether the boot loaders are Debian's, which are signed
 */
export function buildUefiDisk(folder: string, { kernel, ramdisk }: Guest, signed = false): string {
  const disk = join(folder, signed ? 'signed-uefi-disk.qcow2' : 'uefi-disk.qcow2');
  const files = join(folder, 'uefi-files');
  const loaders = join(files, 'EFI', 'BOOT');
  // Signed GRUB reads this file.
  const config = join(files, 'EFI', 'debian', 'grub.cfg');
  for (const path of [loaders, dirname(config)]) mkdirSync(path, { recursive: true });
  copyFileSync(kernel, join(files, 'vmlinuz'));
  copyFileSync(ramdisk, join(files, 'ramdisk'));
  const found = 'search --set=root --file /vmlinuz\n';
  // With secure boot, the kernel loads only signed modules, so it needs its certificates.
  const commandLine = signed ? COMMAND_LINE.replace('load_system_certificate_list,', '') : COMMAND_LINE;
  writeFileSync(config, `${FIRST_OUTPUT}${found}linux /vmlinuz ${commandLine}\ninitrd /ramdisk\nboot\n`);
  if (signed) {
    copyFileSync(SHIM, join(loaders, 'BOOTX64.EFI'));
    copyFileSync(SIGNED_GRUB, join(loaders, 'grubx64.efi'));
  } else {
    const target = ['-O', 'x86_64-efi', '-p', '/', '-c', config, '-o', join(loaders, 'BOOTX64.EFI')];
    execFileSync('/usr/bin/grub-mkimage', [...target, ...EFI_MODULES]);
  }
  const source = JSON.stringify({ driver: 'vvfat', dir: files, 'fat-type': 16 });
  execFileSync('qemu-img', ['convert', '-O', 'qcow2', `json:${source}`, disk]);
  rmSync(files, { recursive: true, force: true });
  return disk;
}

/** The content of a disk that has one partition and GRUB. */
interface DiskContent {
  /** The folder that contains the partition's files. */
  readonly files: string;
  /** The paths of the kernel and the ramdisk in the partition. */
  readonly kernel: string;
  readonly ramdisk: string;
  readonly commandLine: string;
  readonly megabytes: number;
}

/** Creates a bootable raw disk with a boot loader and one ext4 partition. */
export function buildDisk(disk: string, { files, kernel, ramdisk, commandLine, megabytes }: DiskContent): void {
  const core = `${disk}.core.img`;
  const config = `${disk}.grub.cfg`;
  writeFileSync(config, `${FIRST_OUTPUT}linux ${kernel} ${commandLine}\ninitrd ${ramdisk}\nboot\n`);
  const target = ['-O', 'i386-pc', '-p', '(,msdos1)/', '-c', config, '-o', core];
  execFileSync('/usr/bin/grub-mkimage', [...target, ...GRUB_MODULES]);
  const sectors = (megabytes * 2 ** 20) / SECTOR_BYTES - FIRST_SECTOR;
  writeFileSync(disk, '');
  execFileSync('truncate', ['-s', `${megabytes}M`, disk]);
  const fileSystem = ['-q', '-t', 'ext4', '-E', `offset=${FIRST_SECTOR * SECTOR_BYTES}`, '-d', files];
  execFileSync('/usr/sbin/mke2fs', [...fileSystem, disk, `${sectors / 2}k`]);
  installGrub(disk, core, [partition(LINUX, FIRST_SECTOR, sectors, true)]);
}

/** Creates a bootable raw disk with the test guest. */
export function buildBootDisk(folder: string, { kernel, ramdisk }: Guest, megabytes = 64): string {
  const disk = join(folder, 'boot-disk.raw');
  const files = join(folder, 'boot-files');
  mkdirSync(files, { recursive: true });
  copyFileSync(kernel, join(files, 'vmlinuz'));
  copyFileSync(ramdisk, join(files, 'ramdisk'));
  buildDisk(disk, { files, kernel: '/vmlinuz', ramdisk: '/ramdisk', commandLine: COMMAND_LINE, megabytes });
  rmSync(files, { recursive: true, force: true });
  return disk;
}
