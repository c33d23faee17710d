import type { Duplex, Readable } from 'node:stream';

/** A driver's response to a request from another host's driver: a value, or a stream of bytes. */
export interface LinkResponse {
  /** The response value. It is serialized, so it must be plain data; at most 16 MiB of JSON. */
  readonly value?: unknown;
  /** The response as a byte stream: in both directions for `connect()`, and only to the requester for `read()`. */
  readonly stream?: Duplex | Readable;
}

/** The sender of a request to a driver, authenticated by its key. */
export interface HostRequester {
  /** The name of the host that sent the request; null if a process that serves the API sent it. */
  readonly host: string | null;
  /**
   * Returns whether a server is on the sender's host, is moving to it, or is leaving it. The sender does not need
   * access to any other server.
   */
  concerns(serverId: string): Promise<boolean>;
}

/** The data about a host that other hosts use. */
export interface KnownHost {
  readonly name: string;
  readonly address: string;
  /** Whether the host has a recent heartbeat and is not forced down. */
  readonly alive: boolean;
  /** The UDP port for tunnels to the host's networks; null if they are not connected to other hosts. */
  readonly tunnelPort: number | null;
  /** The host's WireGuard endpoint: a public key in base64, and a UDP port; null if its tunnels are not encrypted. */
  readonly wireguard: { readonly publicKey: string; readonly port: number } | null;
}

/**
 * Encrypted connections between hosts. Only a process with a host's key can open them. A connection ends when either
 * process ends.
 */
export interface HostLinks {
  /** Name of this host. */
  readonly self: string;
  /** The address of this host. */
  readonly address: string;
  /** Returns all hosts of the cloud that are separate processes, including this host as soon as it is up. */
  all(): Promise<readonly KnownHost[]>;
  /** Returns the host that stores the content of a volume, or null if no host stores volumes. */
  volumeHost(volumeId: string): Promise<string | null>;
  /**
   * Returns the name of the storage that contains a host's disks (`storage` of its driver), or null if the disks are
   * local to that computer. The host may be down.
   * @throws Error if the host does not exist
   */
  storageOf(host: string): Promise<string | null>;
  /**
   * Sends a request to the driver of a host, which handles it with `handleHostRequest`, and returns the value of its
   * response.
   * @param request plain data
   * @throws HostUnreachable, errors of the remote driver, and the signal's reason
   */
  request(host: string, request: unknown, signal: AbortSignal): Promise<unknown>;
  /**
   * Like `request`, for a response that is a stream of bytes. The stream ends with an error if the response is
   * incomplete; the requester must read or destroy it.
   */
  read(host: string, request: unknown, signal: AbortSignal): Promise<Readable>;
  /** Like `request`, for a connection that carries bytes in both directions. The requester must end it. */
  connect(host: string, request: unknown, signal: AbortSignal): Promise<Duplex>;
}
