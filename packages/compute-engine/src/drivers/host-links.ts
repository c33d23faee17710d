import type { Duplex, Readable } from 'node:stream';

/** A driver's response to a request from another host's driver: a value, or a stream of bytes. */
export interface LinkResponse {
  /** Plain data, because it is serialized; at most 16 MiB of JSON. */
  readonly value?: unknown;
  /** A stream of bytes: in both directions for `connect()`, and only to the requester for `read()`. */
  readonly stream?: Duplex | Readable;
}

/** The sender of a request to a driver, which its key authenticates. */
export interface HostRequester {
  /** The name of the host; null: a process that serves the API. */
  readonly host: string | null;
  /** Returns whether a server is on that host, is moving to it, or is leaving it: hosts do not need access to other servers. */
  concerns(serverId: string): Promise<boolean>;
}

/** A host as other hosts see it. */
export interface KnownHost {
  readonly name: string;
  readonly address: string;
  /** Whether its heartbeat is recent and it has not been forced down. */
  readonly alive: boolean;
  /** The UDP port at which its networks connect to other hosts' networks; null: they do not connect. */
  readonly tunnelPort: number | null;
  /** The endpoint of its encrypted tunnels: its public key in base64, and its UDP port; null: they are not encrypted. */
  readonly wireguard: { readonly publicKey: string; readonly port: number } | null;
}

/**
 * Encrypted connections between hosts, which only a process with the key of a host can open. A connection ends when either
 * process ends.
 */
export interface HostLinks {
  /** Name of this host. */
  readonly self: string;
  /** The address of this host. */
  readonly address: string;
  /** Returns all hosts of the cloud that are separate processes. Includes this one as soon as it is up. */
  all(): Promise<readonly KnownHost[]>;
  /** Returns the host that stores the content of embedded volumes, or null if no host does. */
  volumeHost(): Promise<string | null>;
  /**
   * Returns the storage of a host's disks (`storage` of its driver), even while the host is down, or null if the disks are
   * local to that computer.
   * @throws Error if the host does not exist
   */
  storageOf(host: string): Promise<string | null>;
  /**
   * Sends a request to the driver of a host, which handles it with `handleHostRequest`, and returns the value of its response.
   * @param request plain data
   * @throws HostUnreachable, errors of the remote driver, and the reason of the signal
   */
  request(host: string, request: unknown, signal: AbortSignal): Promise<unknown>;
  /**
   * Like `request`, for a response that is a stream of bytes. The stream fails if it is incomplete; the requester must read or
   * destroy it.
   */
  read(host: string, request: unknown, signal: AbortSignal): Promise<Readable>;
  /** Like `request`, for a connection that carries bytes in both directions. The requester must end it. */
  connect(host: string, request: unknown, signal: AbortSignal): Promise<Duplex>;
}
