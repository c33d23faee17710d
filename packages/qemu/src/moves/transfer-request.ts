import type { GuestCpu } from '../cpu/guest-cpu.js';
import type { VolumeUser } from '../volumes/volume-access.js';

/** Requests between hosts. */
export type TransferRequest =
  /** The manifest of a machine; then the files that it needs. */
  | { readonly kind: 'manifest'; readonly serverId: string }
  /** Why a machine cannot continue with its CPU on the host that receives the request; null if it can. */
  | { readonly kind: 'check cpu'; readonly serverId: string; readonly cpu: GuestCpu }
  | { readonly kind: 'file'; readonly serverId: string; readonly name: string }
  /** A connection to the disks (NBD) or the memory of a machine that waits for them. */
  | { readonly kind: 'disks' | 'memory'; readonly serverId: string }
  /** A volume for a server of the requesting host: the name of its content; then a connection to it (NBD). */
  | { readonly kind: 'open volume'; readonly user: VolumeUser; readonly volumeId: string }
  | { readonly kind: 'close volume'; readonly userId: string; readonly volumeId: string }
  | { readonly kind: 'volume'; readonly content: string; readonly userId: string }
  /** A move was confirmed: shared disks no longer need their snapshot from before the move. */
  | { readonly kind: 'remove disks before'; readonly serverId: string }
  /** Everything is sent: may the machine resume there? Its console log can still be read on this host. */
  | {
      readonly kind: 'complete arrival';
      readonly serverId: string;
      readonly sourceHost: string;
      readonly going: boolean;
    };
