import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { relative } from 'node:path';
import type { Engine } from '@apistrata/compute-engine';
import type { Logger } from 'pino';
import { StartError } from '../start-error.js';
import type { Asked } from './admin-command.js';

/** What goes over the socket, a line of JSON each way. */
export interface Request extends Asked {
  readonly command: string;
}
type Answer = { readonly result: unknown } | { readonly error: string };

/** Longer paths cannot be sockets. */
const LONGEST_PATH_BYTES = 103;
const LONGEST_LINE = 64 * 1024;
/** A line has to come at once; what it asks for may take long. */
const LINE_MS = 5_000;

/** The socket beside a SQLite file, by its shorter name; undefined where there can be none. */
function socketOf(database: string): string | undefined {
  const names = [`${database}-admin`, relative('', `${database}-admin`)];
  const fits = names.find((name) => Buffer.byteLength(name) <= LONGEST_PATH_BYTES);
  return process.platform === 'win32' ? undefined : fits;
}

function lineFrom(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
      else if (text.length > LONGEST_LINE) reject(new Error('too long'));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

async function carryOut(engine: Engine, { command, ...asked }: Request): Promise<Answer> {
  const { engineCommands } = await import('./engine-commands.js');
  const known = Object.hasOwn(engineCommands, command) ? engineCommands[command] : undefined;
  if (!known) return { error: `this server does not know '${command}': it is of another version` };
  try {
    return { result: await known.run(engine, asked) };
  } catch (error) {
    const { status, message } = error as { status?: number; message: string };
    if (status === undefined && !(error instanceof StartError)) throw error;
    return { error: message };
  }
}

/**
 * Lets commands of operators through to the engine that has a SQLite file for itself: over a socket beside the file, which
 * only the file's owner can open. Gives what ends that.
 */
export async function openControl(engine: Engine, database: string, log: Logger): Promise<() => Promise<void>> {
  const path = socketOf(database);
  if (path === undefined) {
    log.warn('commands of operators cannot reach this server: the path of its database is too long for a socket');
    return async () => {};
  }
  const open = new Set<Socket>();
  const server: Server = createServer(async (socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
    socket.setTimeout(LINE_MS, () => socket.destroy());
    try {
      const request: Request = JSON.parse(await lineFrom(socket));
      socket.setTimeout(0);
      log.info({ command: request.command, words: request.words }, 'a command of an operator');
      socket.end(`${JSON.stringify(await carryOut(engine, request))}\n`);
    } catch (error) {
      log.warn({ err: error }, 'a command of an operator failed');
      socket.destroy();
    }
  });
  // Left by a process that was killed: whoever has the database has this too.
  rmSync(path, { force: true });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    // Nobody else may come in between its making and its mode.
    const umask = process.umask(0o177);
    server.listen(path, done);
    process.umask(umask);
  });
  chmodSync(path, 0o600);
  server.unref();
  return () =>
    new Promise((done) => {
      for (const socket of open) socket.destroy();
      server.close(() => done());
    });
}

/** Has the server that uses the database carry a command out. @throws StartError with its words, or that it cannot be reached */
export async function askServer(database: string, request: Request): Promise<unknown> {
  const path = socketOf(database);
  if (path === undefined)
    throw new StartError(`the path of ${database} is too long for a socket: move it, or stop the server`);
  const socket = connect(path);
  try {
    await new Promise<void>((done, fail) => socket.once('connect', done).once('error', fail));
    socket.write(`${JSON.stringify(request)}\n`);
    const answer: Answer = JSON.parse(await lineFrom(socket));
    if ('error' in answer) throw new StartError(answer.error);
    return answer.result;
  } catch (error) {
    if (error instanceof StartError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EACCES' ? 'only the user that runs it may give it commands' : `${message}; its log says more`;
    throw new StartError(`the server that uses ${database} cannot be asked: ${why}`);
  } finally {
    socket.destroy();
  }
}
