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
   * Whether servers may have volumes, whose content is on this computer and on no other. Default: they may; false for hosts
   * that are processes of their own, where a volume would be another one on each.
   */
  readonly volumes?: boolean;
  /** How long a guest may take to end by itself after its power button was pressed, in milliseconds. Default 60,000. */
  readonly shutdownTimeoutMs?: number;
}

export const optionNames: Readonly<Record<keyof QemuOptions, true>> = {
  directory: true,
  acceleration: true,
  program: true,
  runAs: true,
  volumes: true,
  shutdownTimeoutMs: true,
};
