import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { relative } from 'node:path';
import type { Engine } from '@apistrata/compute-engine';
import type { Logger } from 'pino';
import { StartError } from '../start-error.js';
import type { AdminRequest } from './admin-command.js';

/** An admin command that is sent over the socket. Request and response are one line of JSON each. */
export interface ControlRequest extends AdminRequest {
  readonly command: string;
}
type ControlResponse = { readonly result: unknown } | { readonly error: string };

/** The maximum length of a Unix socket's path, in bytes. */
const MAX_PATH_BYTES = 103;
const MAX_LINE_LENGTH = 64 * 1024;
/** The time limit for receiving the request line. The execution of the command may take longer. */
const REQUEST_LINE_TIMEOUT_MS = 5_000;

/** Returns the path of the socket next to a SQLite file; undefined on Windows, or if even the relative path is too long. */
function socketPathFor(database: string): string | undefined {
  const candidatePaths = [`${database}-admin`, relative('', `${database}-admin`)];
  const usablePath = candidatePaths.find((name) => Buffer.byteLength(name) <= MAX_PATH_BYTES);
  return process.platform === 'win32' ? undefined : usablePath;
}

function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let receivedText = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      receivedText += chunk;
      if (receivedText.includes('\n')) resolve(receivedText.slice(0, receivedText.indexOf('\n')));
      else if (receivedText.length > MAX_LINE_LENGTH) reject(new Error('too long'));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

async function executeCommand(engine: Engine, { command, ...requested }: ControlRequest): Promise<ControlResponse> {
  const { engineCommands } = await import('./engine-commands.js');
  const handler = Object.hasOwn(engineCommands, command) ? engineCommands[command] : undefined;
  if (!handler)
    return {
      error: `the server does not support the command '${command}': its version differs from that of this program`,
    };
  try {
    return { result: await handler.run(engine, requested) };
  } catch (error) {
    const { status, message } = error as { status?: number; message: string };
    if (status === undefined && !(error instanceof StartError)) throw error;
    return { error: message };
  }
}

/**
 * Accepts admin commands over a socket next to the SQLite file that the engine has locked. Only the user that runs this
 * process can open the socket. Returns a function that closes it.
 */
export async function openControlSocket(engine: Engine, database: string, log: Logger): Promise<() => Promise<void>> {
  const path = socketPathFor(database);
  if (path === undefined) {
    log.warn('admin commands cannot reach this server: the path of its database is too long for a socket');
    return async () => {};
  }
  const openSockets = new Set<Socket>();
  const server: Server = createServer(async (socket) => {
    openSockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => openSockets.delete(socket));
    socket.setTimeout(REQUEST_LINE_TIMEOUT_MS, () => socket.destroy());
    try {
      const request: ControlRequest = JSON.parse(await readLine(socket));
      socket.setTimeout(0);
      const response = await executeCommand(engine, request);
      const logFields = { command: request.command, words: request.arguments };
      if ('error' in response) log.warn({ ...logFields, error: response.error }, 'admin command failed');
      else log.info(logFields, 'admin command executed');
      socket.end(`${JSON.stringify(response)}\n`);
    } catch (error) {
      log.warn({ err: error }, 'admin command failed');
      socket.destroy();
    }
  });
  // A killed process leaves its socket behind. No other process uses the socket, because this process has locked the
  // database.
  rmSync(path, { force: true });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    // The umask prevents other users from connecting before chmod.
    const umask = process.umask(0o177);
    server.listen(path, done);
    process.umask(umask);
  });
  chmodSync(path, 0o600);
  server.unref();
  return () =>
    new Promise((done) => {
      for (const socket of openSockets) socket.destroy();
      server.close(() => done());
    });
}

/**
 * Runs a command in the server that uses the database.
 * @throws StartError if the command fails, with the server's message, or if the server cannot be reached
 */
export async function callServer(database: string, request: ControlRequest): Promise<unknown> {
  const path = socketPathFor(database);
  if (path === undefined)
    throw new StartError(`the path ${database} is too long for a socket: move the database, or stop the server`);
  const socket = connect(path);
  try {
    await new Promise<void>((done, fail) => socket.once('connect', done).once('error', fail));
    socket.write(`${JSON.stringify(request)}\n`);
    const response: ControlResponse = JSON.parse(await readLine(socket));
    if ('error' in response) throw new StartError(response.error);
    return response.result;
  } catch (error) {
    if (error instanceof StartError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EACCES' ? 'only the user that runs the server may send commands' : `${message}; see the server log`;
    throw new StartError(`the server that uses ${database} cannot be reached: ${reason}`);
  } finally {
    socket.destroy();
  }
}
