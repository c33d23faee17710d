import type { GuestCpu } from '../cpu/guest-cpu.js';
import type { VolumeUser } from '../volumes/volume-access.js';

/** Requests between hosts. */
export type TransferRequest =
  /** Returns the manifest of a machine; `file` then returns the files that it names. */
  | { readonly kind: 'manifest'; readonly serverId: string }
  /** Returns why a machine cannot continue with its CPU on the host that receives the request; null if it can. */
  | { readonly kind: 'check cpu'; readonly serverId: string; readonly cpu: GuestCpu }
  | { readonly kind: 'file'; readonly serverId: string; readonly name: string }
  /** Connects to the disks (NBD) or the memory of a machine that waits for them. */
  | { readonly kind: 'disks' | 'memory'; readonly serverId: string }
  /** Opens a volume for a server of the requesting host; `volume` then connects to the returned content (NBD). */
  | { readonly kind: 'open volume'; readonly user: VolumeUser; readonly volumeId: string }
  | { readonly kind: 'close volume'; readonly userId: string; readonly volumeId: string }
  | { readonly kind: 'volume'; readonly content: string; readonly userId: string }
  /** Removes the snapshots that shared disks have from before a move, because the move was confirmed. */
  | { readonly kind: 'remove disks before'; readonly serverId: string }
  /** Resumes a machine when everything has been sent. Its console log can still be read on the source host. */
  | {
      readonly kind: 'complete arrival';
      readonly serverId: string;
      readonly sourceHost: string;
      readonly going: boolean;
    };
