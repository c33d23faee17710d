import type { TunnelEndpoint } from './tunnels.js';

/** A network device that must exist on this computer. */
export type DesiredLink = { readonly name: string; readonly mtu: number } & (
  | { readonly kind: 'bridge' }
  /** If `multiqueue` is undefined, an existing device keeps its queues, and a new device gets one queue. */
  | { readonly kind: 'tap'; readonly bridge: string; readonly up: boolean; readonly multiqueue?: boolean | undefined }
  /** A pair of connected devices on this computer. This end is attached to one of the computer's own bridges. */
  | { readonly kind: 'pair'; readonly peer: string; readonly bridge: string }
  /** A device that exists already: the other end of a pair, or an interface of the computer. */
  | { readonly kind: 'port'; readonly bridge: string | null }
  | { readonly kind: 'vlan'; readonly parent: string; readonly tag: number; readonly bridge: string }
  /** A VXLAN tunnel to the same network on other hosts. */
  | {
      readonly kind: 'tunnel';
      readonly bridge: string;
      readonly segment: number;
      readonly local: TunnelEndpoint;
      readonly learning: boolean;
      /** The interface that encrypts the tunnel; undefined if the tunnel is not encrypted. */
      readonly device: string | undefined;
    }
  | {
      /**
       * A pair of connected devices. This end may be attached to a bridge; the other end has the same name, but is in a
       * namespace.
       */
      readonly kind: 'veth';
      readonly bridge: string | null;
      readonly namespace: string;
      readonly mac: string;
    }
);
