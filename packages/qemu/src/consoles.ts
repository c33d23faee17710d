import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Server } from '@apistrata/compute-engine';
import type { ConsoleEndpoint } from '@apistrata/compute-engine/drivers';
import { connectSocket } from './connect-socket.js';
import type { Host } from './host.js';
import { QemuError } from './qemu-error.js';

/** Consoles that machines have, by their type, and the socket of each. */
const SOCKETS = { novnc: 'vnc', serial: 'serial' } as const;

function socketOf(host: Host, server: Server, type: string): string | undefined {
  const name = SOCKETS[type as keyof typeof SOCKETS];
  return name && host.machine(server).folder.file(name);
}

/** Where a console of a machine is: a socket of this computer, so there is no port. Null for types that machines do not have. */
export function consoleOf(host: Host, server: Server, type: string): ConsoleEndpoint | null {
  const path = socketOf(host, server, type);
  return path === undefined ? null : { host: hostname(), port: 0, internalAccessPath: path };
}

/**
 * Connects to a console of a machine that runs. Screens have many viewers; whoever opens a serial line takes it over.
 * @throws `MACHINE_NOT_RUNNING`
 */
export async function openConsole(host: Host, server: Server, type: string): Promise<Socket> {
  const path = socketOf(host, server, type);
  if (path === undefined || !(await host.machine(server).running()))
    throw new QemuError('MACHINE_NOT_RUNNING', `the machine has no console of the type ${type} now`);
  if (type !== 'serial') return connectSocket(path);
  const { serialReaders: lines } = host;
  lines.get(server.id)?.destroy();
  const socket = await connectSocket(path);
  lines.set(server.id, socket);
  socket.once('close', () => {
    if (lines.get(server.id) === socket) lines.delete(server.id);
  });
  return socket;
}
