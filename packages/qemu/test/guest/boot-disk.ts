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
import { join } from 'node:path';
import { COMMAND_LINE, type Guest, missingForGuests } from './build-guest.js';

const SECTOR_BYTES = 512;
/** Where the first partition begins; the boot loader is between the first sector and here. */
const FIRST_SECTOR = 2048;
const PARTITION_TABLE_AT = 446;
const LINUX = 0x83;
const ACTIVE = 0x80;
const GRUB = '/usr/lib/grub/i386-pc';
const GRUB_MODULES = ['biosdisk', 'part_msdos', 'ext2', 'linux', 'boot', 'echo', 'serial', 'terminal'];

/** What is missing to make disks with a boot loader on this machine; undefined where everything is there. */
export function missingForBootLoaders(): string | undefined {
  if (!existsSync(join(GRUB, 'boot.img'))) return 'grub-pc-bin';
  if (!existsSync('/usr/bin/grub-mkimage')) return 'grub-common';
  return missingForGuests();
}

/** An entry of a partition table. Firmware and loaders of today read the sectors, not the cylinders. */
export function partition(type: number, first: number, sectors: number, active = false): Buffer {
  const entry = Buffer.alloc(16);
  entry[0] = active ? ACTIVE : 0;
  entry[4] = type;
  entry.writeUInt32LE(first, 8);
  entry.writeUInt32LE(sectors, 12);
  return entry;
}

/** Writes grub and a partition table to the beginning of a disk, as `grub-install` does. */
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

/** Makes a raw disk that boots the test guest by itself: a boot loader, and one partition with the kernel. */
export function buildBootDisk(folder: string, { kernel, ramdisk }: Guest, megabytes = 64): string {
  const disk = join(folder, 'boot-disk.raw');
  const files = join(folder, 'boot-files');
  const core = join(folder, 'core.img');
  const config = join(folder, 'grub.cfg');
  mkdirSync(files, { recursive: true });
  copyFileSync(kernel, join(files, 'vmlinuz'));
  copyFileSync(ramdisk, join(files, 'ramdisk'));
  const said = 'serial --unit=0\nterminal_output serial\necho LOADER begins\n';
  writeFileSync(config, `${said}linux /vmlinuz ${COMMAND_LINE}\ninitrd /ramdisk\nboot\n`);
  const target = ['-O', 'i386-pc', '-p', '(,msdos1)/', '-c', config, '-o', core];
  execFileSync('/usr/bin/grub-mkimage', [...target, ...GRUB_MODULES]);
  const sectors = (megabytes * 2 ** 20) / SECTOR_BYTES - FIRST_SECTOR;
  writeFileSync(disk, '');
  execFileSync('truncate', ['-s', `${megabytes}M`, disk]);
  const fileSystem = ['-q', '-t', 'ext4', '-E', `offset=${FIRST_SECTOR * SECTOR_BYTES}`, '-d', files];
  execFileSync('/usr/sbin/mke2fs', [...fileSystem, disk, `${sectors / 2}k`]);
  installGrub(disk, core, [partition(LINUX, FIRST_SECTOR, sectors, true)]);
  rmSync(files, { recursive: true, force: true });
  return disk;
}
