/** A port of the host that is forwarded to a port of a guest. */
export interface Forward {
  readonly protocol: 'tcp' | 'udp';
  readonly hostPort: number;
  readonly guestPort: number;
}

/** The forwards of a guest, and the host address on which they listen. */
export interface UserForwards {
  readonly address: string;
  readonly forwards: readonly Forward[];
}
