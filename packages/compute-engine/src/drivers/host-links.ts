import type { Duplex, Readable } from 'node:stream';

/** What a driver answers the driver of another host: a value, and bytes where a value is not enough. */
export interface LinkAnswer {
  /** Plain data, for it travels; at most 1 MiB of JSON. */
  readonly value?: unknown;
  /**
   * What flows after the value: both ways, or from here to whoever has asked. One that breaks looks there as if it had ended: say
   * in the value how long it is where that matters.
   */
  readonly stream?: Duplex | Readable;
}

/** What came back: the value, and the bytes that follow it. Whoever has asked ends the stream. */
export interface OpenLink {
  readonly value: unknown;
  readonly stream: Duplex;
}

/** A host, as the others know it. */
export interface KnownHost {
  readonly name: string;
  readonly address: string;
  /** It has given a sign of life lately, and nobody has said that it is down. */
  readonly alive: boolean;
  /** The UDP port at which its networks meet those of others; null: they do not. */
  readonly tunnelPort: number | null;
}

/**
 * Ways from one host to another: encrypted, and only for those who have the cloud's secret key. A link ends with either of the
 * two processes.
 */
export interface HostLinks {
  /** Name of this host. */
  readonly self: string;
  /** The address of this host. */
  readonly address: string;
  /** All hosts of the cloud that are processes of their own, this one too as soon as it is up. */
  all(): Promise<readonly KnownHost[]>;
  /** The host that keeps the content of embedded volumes; null where none does. */
  volumeHost(): Promise<string | null>;
  /**
   * The storage that a host has said its machines' disks are on (`storage` of its driver), also while it is down; null where they
   * are on that computer alone.
   * @throws Error for hosts that have never been there
   */
  storageOf(host: string): Promise<string | null>;
  /**
   * Asks the driver of a host, by its `answer`.
   * @param question plain data
   * @throws HostUnreachable, and what the driver threw there
   */
  ask(host: string, question: unknown, signal: AbortSignal): Promise<OpenLink>;
}
