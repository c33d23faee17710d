import { randomInt } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Server } from '@apistrata/compute-engine';
import { isYes } from '@apistrata/compute-engine/drivers';
import { QemuError } from '../qemu-error.js';
import { optionsOfServer } from '../tuning/machine-options.js';

/** How long an agent has to say that it is there, and to do something. */
const SYNC_MS = 5_000;
const ANSWER_MS = 60_000;
/** How often it is greeted until then: what comes while it opens the channel again is lost. */
const GREET_MS = 500;

/** No answer is longer; guests may send what they like. */
const MAX_ANSWER = 2 ** 20;

/** Tells an agent to forget what came before; it begins the answer to that in the same way. */
const DELIMITER = '\xff';

interface AgentAnswer {
  readonly return?: unknown;
  readonly error?: { readonly class?: string; readonly desc?: string };
}

/** Whether the image of a server says that there is an agent in its guests. */
export function hasAgent(server: Server): boolean {
  return isYes(optionsOfServer(server)('agent'));
}

function unanswered(what: string): QemuError {
  return new QemuError('GUEST_TIMEOUT', `the agent in the guest does not answer: ${what}`);
}

function connected(path: string, late: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, signal: late });
    socket.once('error', (error) => reject(unanswered(error.message)));
    socket.once('connect', () => resolve(socket));
  });
}

/** Sends a command, and waits for the answer to it: the first line that fits. */
function exchange(
  socket: Socket,
  text: string,
  fits: (answer: AgentAnswer) => boolean,
  what: string,
  late: AbortSignal,
): Promise<AgentAnswer> {
  return new Promise((resolve, reject) => {
    let rest = '';
    const settle = (then: () => void) => {
      socket.off('data', heard).off('close', closed).off('error', closed);
      late.removeEventListener('abort', closed);
      then();
    };
    const closed = () => settle(() => reject(unanswered(what)));
    const heard = (bytes: Buffer) => {
      const lines = (rest + bytes.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_ANSWER) return closed();
      for (const line of lines) {
        const answer = parsed(line.slice(line.lastIndexOf(DELIMITER) + 1));
        if (answer && fits(answer)) return settle(() => resolve(answer));
      }
    };
    if (late.aborted) return reject(unanswered(what));
    late.addEventListener('abort', closed, { once: true });
    socket.on('data', heard).once('close', closed).once('error', closed);
    socket.write(Buffer.from(text, 'latin1'));
  });
}

/** Guests may send anything: what is no answer is passed over. */
function parsed(line: string): AgentAnswer | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const command = (execute: string, args: object) => `${JSON.stringify({ execute, arguments: args })}\n`;

/**
 * Greets an agent until it answers. A greeting begins with what forgets everything before it, which agents may complain of: where
 * several were sent, one without follows, so that no complaint is taken for the answer to what is asked next.
 */
async function greet(socket: Socket, what: string, late: AbortSignal): Promise<void> {
  const sent = new Set<unknown>();
  const greeting = (before: string) => {
    const id = randomInt(2 ** 31);
    sent.add(id);
    return before + command('guest-sync-delimited', { id });
  };
  const again = setInterval(() => socket.write(Buffer.from(greeting(DELIMITER), 'latin1')), GREET_MS);
  const answered = exchange(socket, greeting(DELIMITER), (answer) => sent.has(answer.return), what, late);
  await answered.finally(() => clearInterval(again));
  if (sent.size === 1) return;
  sent.clear();
  await exchange(socket, greeting(''), (answer) => sent.has(answer.return), what, late);
}

/**
 * Has the agent in a guest do something, by the protocol of QEMU's guest agent. What an agent that was away finds of earlier
 * questions is nothing but greetings: a command follows only the answer to its own.
 *
 * @param path the socket of the machine's channel
 * @throws `GUEST_TIMEOUT` where nobody answers, `GUEST_REFUSED` with what the agent says
 */
export async function askAgent<T = unknown>(path: string, execute: string, args: object = {}): Promise<T> {
  const greeting = AbortSignal.timeout(SYNC_MS);
  const socket = await connected(path, greeting);
  try {
    await greet(socket, execute, greeting);
    const answered = await exchange(
      socket,
      command(execute, args),
      () => true,
      execute,
      AbortSignal.timeout(ANSWER_MS),
    );
    if (answered.error)
      throw new QemuError('GUEST_REFUSED', `the agent in the guest: ${execute}: ${answered.error.desc ?? 'refused'}`);
    return answered.return as T;
  } finally {
    socket.destroy();
  }
}
