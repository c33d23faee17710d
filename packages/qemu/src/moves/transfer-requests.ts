import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../host.js';
import { QemuError } from '../qemu-error.js';
import type { TransferRequest } from './transfer-request.js';

/**
 * The requests that this host can send to another one. They reject with an error of that host, `HostUnreachable` or the signal's reason.
 */
export interface TransferRequests {
  value<T>(request: TransferRequest): Promise<T>;
  read(request: TransferRequest): Promise<Readable>;
  connect(request: TransferRequest): Promise<Duplex>;
}

/** Returns the requests to a host. @throws QemuError `UNSUPPORTED` if it is not another host */
export function requestsTo(name: string, { parts }: Host, signal: AbortSignal): TransferRequests {
  const { hosts } = parts.services;
  if (!hosts || name === hosts.self) throw new QemuError('UNSUPPORTED', `the host ${name} is not a remote host`);
  return {
    value: async <T>(request: TransferRequest) => (await hosts.request(name, request, signal)) as T,
    read: (request) => hosts.read(name, request, signal),
    connect: (request) => hosts.connect(name, request, signal),
  };
}

const RETRY_INTERVAL_MS = 500;

/** A transfer from another host was cut off. */
export class ConnectionCut extends QemuError {
  constructor(what: string, options?: ErrorOptions) {
    super('MOVE_FAILED', `the transfer of ${what} was incomplete`, options);
  }
}

/** Repeats a request while the other host or the network is unavailable. Rejections of the other host are rethrown. */
export async function retryWhileUnreachable<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ConnectionCut) && (error as { code?: string }).code !== 'HOST_UNREACHABLE') throw error;
    }
    await sleep(RETRY_INTERVAL_MS, undefined, { signal });
  }
}
