import type { TunnelEnd } from './tunnels.js';

/** A network device of this computer. */
export type DesiredLink = { readonly name: string; readonly mtu: number } & (
  | { readonly kind: 'bridge' }
  /** `multiqueue` is undefined if it is unknown: an existing device is not changed, and a new one has one queue. */
  | { readonly kind: 'tap'; readonly bridge: string; readonly up: boolean; readonly multiqueue?: boolean | undefined }
  /** A pair of devices of this computer. This end is attached to a bridge of the computer. */
  | { readonly kind: 'pair'; readonly peer: string; readonly bridge: string }
  /** An existing device: the other end of a pair, or an interface of the computer. */
  | { readonly kind: 'port'; readonly bridge: string | null }
  | { readonly kind: 'vlan'; readonly parent: string; readonly tag: number; readonly bridge: string }
  /** A tunnel to the same network on other hosts. */
  | {
      readonly kind: 'tunnel';
      readonly bridge: string;
      readonly segment: number;
      readonly local: TunnelEnd;
      readonly learning: boolean;
      /** The interface that encrypts it; undefined: it is not encrypted. */
      readonly device: string | undefined;
    }
  | {
      /**
       * A pair: this end is attached to a bridge, or unattached; the other end, of the same name, is in a namespace.
       */
      readonly kind: 'veth';
      readonly bridge: string | null;
      readonly namespace: string;
      readonly mac: string;
    }
);
