import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Server } from '@apistrata/compute-engine';
import type { ConsoleEndpoint } from '@apistrata/compute-engine/drivers';
import { connectSocket } from './connect-socket.js';
import type { Host } from './host.js';
import { QemuError } from './qemu-error.js';

/** The socket file of each console type. */
const SOCKET_FILES = { novnc: 'vnc', serial: 'serial' } as const;

function socketPath(host: Host, server: Server, type: string): string | undefined {
  const fileName = SOCKET_FILES[type as keyof typeof SOCKET_FILES];
  return fileName && host.machine(server).folder.file(fileName);
}

/** Returns the endpoint of a console, which is a Unix socket and therefore has no port; null for unsupported types. */
export function consoleOf(host: Host, server: Server, type: string): ConsoleEndpoint | null {
  const path = socketPath(host, server, type);
  return path === undefined ? null : { host: hostname(), port: 0, internalAccessPath: path };
}

/**
 * Connects to a console of a running machine. Many clients can view a screen at the same time, but a new connection to
 * the serial console replaces the previous one.
 *
 * @throws QemuError `MACHINE_NOT_RUNNING`
 */
export async function openConsole(host: Host, server: Server, type: string): Promise<Socket> {
  const path = socketPath(host, server, type);
  if (path === undefined || !(await host.machine(server).connectIfRunning()))
    throw new QemuError('MACHINE_NOT_RUNNING', `the machine has no open console of type ${type}`);
  if (type !== 'serial') return connectSocket(path);
  const { serialReaders: readers } = host;
  readers.get(server.id)?.destroy();
  const socket = await connectSocket(path);
  readers.set(server.id, socket);
  socket.once('close', () => {
    if (readers.get(server.id) === socket) readers.delete(server.id);
  });
  return socket;
}
