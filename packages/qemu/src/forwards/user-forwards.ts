/** A host port that is forwarded to a guest port. */
export interface Forward {
  readonly protocol: 'tcp' | 'udp';
  readonly hostPort: number;
  readonly guestPort: number;
}

/** A guest's port forwards, and the host address on which they listen. */
export interface UserForwards {
  readonly address: string;
  readonly forwards: readonly Forward[];
}
