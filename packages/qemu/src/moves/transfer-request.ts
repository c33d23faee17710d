import type { GuestCpu } from '../cpu/guest-cpu.js';
import type { VolumeUser } from '../volumes/volume-access.js';

/** A request from one QEMU host to another. */
export type TransferRequest =
  /** Returns the manifest of a machine. `file` requests then return the files that the manifest lists. */
  | { readonly kind: 'manifest'; readonly serverId: string }
  /** Returns why a machine with this CPU cannot continue on the host that receives the request; null if it can. */
  | { readonly kind: 'check cpu'; readonly serverId: string; readonly cpu: GuestCpu }
  | { readonly kind: 'file'; readonly serverId: string; readonly name: string }
  /** Connects to a machine that waits for its disks (over NBD) or its memory. */
  | { readonly kind: 'disks' | 'memory'; readonly serverId: string }
  /**
   * Opens a volume for a server on the requesting host. `volume` requests then access the returned content over NBD.
   */
  | { readonly kind: 'open volume'; readonly user: VolumeUser; readonly volumeId: string }
  | { readonly kind: 'close volume'; readonly userId: string; readonly volumeId: string }
  | { readonly kind: 'volume'; readonly content: string; readonly userId: string }
  /** Removes the snapshots that a cold migration took of shared disks, because the migration was confirmed. */
  | { readonly kind: 'remove disks before'; readonly serverId: string }
  /** Resumes a machine when its memory and disks have been sent. The source host still serves the console log. */
  | {
      readonly kind: 'complete arrival';
      readonly serverId: string;
      readonly sourceHost: string;
      readonly going: boolean;
    };
