import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { findInstalledProgram } from '../../src/programs/find-program.js';
import { BUSYBOX, COMMAND_LINE, MODULES, missingForGuests, packGuest, putFile } from './build-guest.js';

const VIRTIOFSD = ['/usr/lib/qemu/virtiofsd', '/usr/libexec/virtiofsd'].find((path) => existsSync(path));
const MEMORY = '3G';
const run = promisify(execFile);

/** The result of a command in a guest. */
export interface CommandResult {
  /** The exit status; undefined if the guest ended before the command. */
  readonly status: number | undefined;
  /** The standard output and error output. */
  readonly output: string;
}

/** Returns the missing requirement for running commands with the distribution's kernel; undefined if all are met. */
export function missingForComputerGuests(): string | undefined {
  return missingForGuests() ?? (VIRTIOFSD ? undefined : 'virtiofsd (qemu-system-common)');
}

/** The kernel modules that LVM thin pools need; each follows its dependencies. */
export const THIN_POOL_MODULES = [
  'libcrc32c',
  'dm-mod',
  'dm-bufio',
  'dm-persistent-data',
  'dm-bio-prison',
  'dm-thin-pool',
  'loop',
];

/** Returns the missing requirement for LVM thin pools in such a virtual machine; undefined if all are met. */
export function missingForThinPoolsInGuests(): string | undefined {
  if (!findInstalledProgram('lvm')) return 'LVM (lvm2)';
  if (!existsSync('/usr/sbin/thin_check')) return 'thin_check (thin-provisioning-tools)';
  return missingForComputerGuests();
}

/**
 * Runs a shell script in a virtual machine with the distribution's kernel, whose modules this computer's kernel may
 * lack. The guest sees this computer's files; its changes to them are lost. Only for tests, after which the guest's own
 * files are removed.
 *
 * @param modules kernel modules that the guest needs in addition; each follows its dependencies
 */
export async function runInGuest(
  script: string,
  modules: readonly string[],
  timeoutMs: number,
): Promise<CommandResult> {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-guest-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'root');
  mkdirSync(root);
  putFile(root, BUSYBOX, 'bin/busybox', true);
  putFile(root, join(import.meta.dirname, 'computer-init.sh'), 'init', true);
  writeFileSync(join(root, 'command.sh'), script);
  const { kernel, ramdisk } = packGuest(folder, root, [...MODULES, 'fuse', 'virtiofs', 'overlay', ...modules]);
  const socket = join(folder, 'files');
  const files = spawn(VIRTIOFSD!, [`--socket-path=${socket}`, '-o', 'source=/', '-o', 'sandbox=chroot'], {
    stdio: 'ignore',
  });
  try {
    await eventually(() => existsSync(socket));
    const memory = ['-m', MEMORY, '-object', `memory-backend-memfd,id=memory,size=${MEMORY},share=on`];
    // KVM in a virtual machine may not run a guest, so the processor is emulated.
    const machine = ['-machine', 'q35,memory-backend=memory', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2'];
    const device = 'vhost-user-fs-pci,chardev=files,tag=computer';
    const shared = ['-chardev', `socket,id=files,path=${socket}`, '-device', device];
    const boot = ['-kernel', kernel, '-initrd', ramdisk, '-append', COMMAND_LINE];
    const console = join(folder, 'console');
    const devices = ['-display', 'none', '-no-reboot', '-serial', `file:${console}`, '-nic', 'none'];
    const timeout = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    // If the guest hangs, its output shows where.
    await run('qemu-system-x86_64', [...machine, ...memory, ...shared, ...boot, ...devices], timeout).catch(() => {});
    const output = readFileSync(console, 'utf8');
    const [, status] = /^STATUS (\d+)$/m.exec(output) ?? [];
    return { status: status === undefined ? undefined : Number(status), output };
  } finally {
    files.kill('SIGKILL');
    if (files.exitCode === null && files.signalCode === null) await once(files, 'exit');
  }
}
