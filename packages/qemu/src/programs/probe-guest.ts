/**
 * The letters that the probe guest writes to the debug port: in real mode, in protected mode, and finally in long mode.
 */
export const PROBE_MODES = { R: 'real mode', P: 'protected mode', L: 'long mode' } as const;
/** The complete output of a successful probe guest. */
export const PROBE_OUTPUT = 'RPL';
/** The I/O port of QEMU's debug console. */
export const PROBE_PORT = '0xe9';

const SIGNATURE_OFFSET = 510;

/** The machine code of the probe guest, which firmware loads at 0x7c00. Page tables are at 0x1000, 0x2000 and 0x3000. */
const MACHINE_CODE: readonly (readonly [string, string])[] = [
  ['fa', 'cli'],
  ['31c0 8ed8 8ec0 8ed0', 'xor ax, ax; ds = es = ss = 0'],
  ['bc007c', 'mov sp, 0x7c00'],
  ['ea117c0000', 'jmp 0:0x7c11'],
  ['fc bf0010 b90018 f3ab', 'clear the page tables: rep stosw'],
  ['c70600100320', 'mov word [0x1000], 0x2003'],
  ['c70600200330', 'mov word [0x2000], 0x3003'],
  ['c70600308300', 'mov word [0x3000], 0x0083: two MiB, mapped to themselves'],
  ['bae900 b052 ee', "out 0xe9, 'R'"],
  ['0f0116c87c', 'lgdt [0x7cc8]'],
  ['0f20c0 0c01 0f22c0', 'cr0 |= PE'],
  ['ea447c0800', 'jmp 8:0x7c44, to protected mode'],
  ['b810000000 8ed8 8ed0', 'ds = ss = 16'],
  ['b050 ee', "out 0xe9, 'P'"],
  ['b820000000 0f22e0', 'cr4 = PAE'],
  ['b800100000 0f22d8', 'cr3 = 0x1000'],
  ['b9800000c0 0f32 0d00010000 0f30', 'EFER |= LME'],
  ['0f20c0 0d00000080 0f22c0', 'cr0 |= PG'],
  ['ea807c00001800', 'jmp 24:0x7c80, to long mode'],
  ['48c7c400800000', 'mov rsp, 0x8000'],
  ['48c7c100001000', 'mov rcx, 0x100000'],
  ['51 58 4839c1 750d', 'a million times: push rcx; pop rax; stop if they differ'],
  ['48ffc9 75f4', 'dec rcx; repeat'],
  ['bae9000000 b04c ee', "out 0xe9, 'L'"],
  ['f4 ebfd', 'hlt, forever'],
  ['0f1f00', 'padding'],
  ['0000000000000000', 'GDT: null'],
  ['ffff0000009acf00', 'GDT 8: 32-bit code'],
  ['ffff00000092cf00', 'GDT 16: data'],
  ['ffff0000009aaf00', 'GDT 24: 64-bit code'],
  ['1f00 a87c0000', 'size and address of the GDT'],
];

/** The size of the probe disk. Firmware does not read disks that are smaller than a cylinder. */
const DISK_BYTES = 2 ** 20;

/** Returns a disk image whose boot sector passes through the modes of an x86 processor and reports each of them. */
export function createProbeDisk(): Buffer {
  const disk = Buffer.alloc(DISK_BYTES);
  Buffer.from(MACHINE_CODE.map(([bytes]) => bytes.replaceAll(' ', '')).join(''), 'hex').copy(disk);
  disk.writeUInt16LE(0xaa55, SIGNATURE_OFFSET);
  return disk;
}
