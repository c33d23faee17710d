import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../host.js';
import { QemuError } from '../qemu-error.js';
import type { TransferRequest } from './transfer-request.js';

/**
 * Sends requests to another host. Rejects with that host's error, with `HostUnreachable`, or with the signal's reason.
 */
export interface TransferClient {
  value<T>(request: TransferRequest): Promise<T>;
  read(request: TransferRequest): Promise<Readable>;
  connect(request: TransferRequest): Promise<Duplex>;
}

/**
 * Returns an object that sends requests to a host.
 * @throws QemuError `UNSUPPORTED` if the name is not that of another host
 */
export function createTransferClient(name: string, { parts }: Host, signal: AbortSignal): TransferClient {
  const { hosts } = parts.services;
  if (!hosts || name === hosts.self) throw new QemuError('UNSUPPORTED', `the host ${name} is not a remote host`);
  return {
    value: async <T>(request: TransferRequest) => (await hosts.request(name, request, signal)) as T,
    read: (request) => hosts.read(name, request, signal),
    connect: (request) => hosts.connect(name, request, signal),
  };
}

const RETRY_INTERVAL_MS = 500;

/** The error for an interrupted transfer from another host. */
export class InterruptedTransferError extends QemuError {
  constructor(transferName: string, options?: ErrorOptions) {
    super('MOVE_FAILED', `the transfer of ${transferName} was incomplete`, options);
  }
}

/** Retries a request to a host while that host or the network is unavailable. Errors from that host are rethrown. */
export async function retryWhileUnreachable<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof InterruptedTransferError) && (error as { code?: string }).code !== 'HOST_UNREACHABLE')
        throw error;
    }
    await sleep(RETRY_INTERVAL_MS, undefined, { signal });
  }
}
