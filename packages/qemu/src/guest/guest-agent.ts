import { randomInt } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Server } from '@apistrata/compute-engine';
import { isTruthyString } from '@apistrata/compute-engine/drivers';
import { QemuError } from '../qemu-error.js';
import { optionsOfServer } from '../tuning/machine-options.js';

/** The timeouts for synchronizing with a guest agent, and for a command. */
const SYNC_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 60_000;
/** The interval between synchronization requests. An agent loses requests that arrive while it reopens its channel. */
const SYNC_INTERVAL_MS = 500;

/** The maximum size of an agent's response in bytes. A limit is needed because a guest can send any amount of data. */
const MAX_RESPONSE_BYTES = 2 ** 20;

/** The byte that makes a guest agent discard earlier input. Responses to synchronization requests begin with it. */
const DELIMITER = '\xff';

interface AgentResponse {
  readonly return?: unknown;
  readonly error?: { readonly class?: string; readonly desc?: string };
}

/** Returns true if the server's image declares a guest agent. */
export function hasAgent(server: Server): boolean {
  return isTruthyString(optionsOfServer(server)('agent'));
}

function createNoResponseError(detail: string): QemuError {
  return new QemuError('GUEST_TIMEOUT', `the guest agent does not respond: ${detail}`);
}

function connectToAgent(path: string, timeoutSignal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, signal: timeoutSignal });
    socket.once('error', (error) => reject(createNoResponseError(error.message)));
    socket.once('connect', () => resolve(socket));
  });
}

/** Sends a command to a guest agent, and returns the first response that matches. */
function sendAndReceive(
  socket: Socket,
  request: string,
  matches: (response: AgentResponse) => boolean,
  detail: string,
  timeoutSignal: AbortSignal,
): Promise<AgentResponse> {
  return new Promise((resolve, reject) => {
    let rest = '';
    const finish = (settle: () => void) => {
      socket.off('data', onData).off('close', onFailure).off('error', onFailure);
      timeoutSignal.removeEventListener('abort', onFailure);
      settle();
    };
    const onFailure = () => finish(() => reject(createNoResponseError(detail)));
    const onData = (bytes: Buffer) => {
      const lines = (rest + bytes.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_RESPONSE_BYTES) return onFailure();
      for (const line of lines) {
        const result = parseResponse(line.slice(line.lastIndexOf(DELIMITER) + 1));
        if (result && matches(result)) return finish(() => resolve(result));
      }
    };
    if (timeoutSignal.aborted) return reject(createNoResponseError(detail));
    timeoutSignal.addEventListener('abort', onFailure, { once: true });
    socket.on('data', onData).once('close', onFailure).once('error', onFailure);
    socket.write(Buffer.from(request, 'latin1'));
  });
}

/**
 * Parses a line from a guest agent; returns undefined if the line is not a response, because a guest can send any data.
 */
function parseResponse(line: string): AgentResponse | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const formatCommand = (execute: string, args: object) => `${JSON.stringify({ execute, arguments: args })}\n`;

/**
 * Sends synchronization requests until the guest agent responds. Each request starts with a delimiter that makes the
 * agent discard earlier input. Agents may report the delimiter as an error. If several requests were sent, another one
 * without the delimiter follows, so that such an error is not mistaken for the response to the next command.
 */
async function synchronize(socket: Socket, detail: string, timeoutSignal: AbortSignal): Promise<void> {
  const sentIds = new Set<unknown>();
  const createSyncRequest = (prefix: string) => {
    const id = randomInt(2 ** 31);
    sentIds.add(id);
    return prefix + formatCommand('guest-sync-delimited', { id });
  };
  const retryTimer = setInterval(
    () => socket.write(Buffer.from(createSyncRequest(DELIMITER), 'latin1')),
    SYNC_INTERVAL_MS,
  );
  const firstResponse = sendAndReceive(
    socket,
    createSyncRequest(DELIMITER),
    (response) => sentIds.has(response.return),
    detail,
    timeoutSignal,
  );
  await firstResponse.finally(() => clearInterval(retryTimer));
  if (sentIds.size === 1) return;
  sentIds.clear();
  await sendAndReceive(
    socket,
    createSyncRequest(''),
    (response) => sentIds.has(response.return),
    detail,
    timeoutSignal,
  );
}

/**
 * Runs a command of QEMU's guest agent. Commands are sent only after the agent has responded to a synchronization
 * request, so that an agent that starts later never executes a stale command.
 *
 * @param path the socket of the machine's guest agent channel
 * @param endSignal ends the wait for the response; default: a timeout of one minute
 * @throws QemuError `GUEST_TIMEOUT` if the agent does not respond, `GUEST_COMMAND_FAILED` with the agent's error
 */
export async function callAgent<T = unknown>(
  path: string,
  execute: string,
  args: object = {},
  endSignal?: AbortSignal,
): Promise<T> {
  const syncTimeout = AbortSignal.timeout(SYNC_TIMEOUT_MS);
  const socket = await connectToAgent(path, syncTimeout);
  try {
    await synchronize(socket, execute, syncTimeout);
    const timeoutSignal = endSignal ?? AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    const response = await sendAndReceive(socket, formatCommand(execute, args), () => true, execute, timeoutSignal);
    if (response.error)
      throw new QemuError(
        'GUEST_COMMAND_FAILED',
        `the guest agent rejected ${execute}: ${response.error.desc ?? 'no reason given'}`,
      );
    return response.return as T;
  } finally {
    socket.destroy();
  }
}
