import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { QemuError } from '../qemu-error.js';

/** Something that QEMU tells without being asked. */
export interface QmpEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Waiting {
  readonly resolve: (value: any) => void;
  readonly reject: (error: Error) => void;
}

const GREETING_MS = 10_000;
const QUIT_MS = 10_000;
const MAX_LINE = 2 ** 24;

/** Answers of QEMU to what it will not do. */
export class QmpRefusal extends QemuError {
  constructor(
    readonly command: string,
    /** `GenericError`, `DeviceNotFound`, ... */
    readonly kind: string,
    description: string,
  ) {
    super('MACHINE_REFUSED', `${command}: ${description}`);
  }
}

/**
 * The machine protocol of QEMU over a Unix socket: commands one after the other, answered in order, and events between
 * them. QEMU serves one client at a time.
 */
export class QmpClient {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #events = new EventEmitter<{ event: [QmpEvent]; closed: [Error] }>();
  #next = 1;
  #closed: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#events.setMaxListeners(0);
  }

  /** Connects and negotiates. Rejects with the socket's error, or when nobody greets in time. */
  static async connect(path: string): Promise<QmpClient> {
    const socket = connect(path);
    const client = new QmpClient(socket);
    const late = setTimeout(() => socket.destroy(), GREETING_MS);
    try {
      await client.#greeted(AbortSignal.timeout(GREETING_MS));
      await client.execute('qmp_capabilities');
      return client;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  #greeted(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new QemuError('MACHINE_REFUSED', 'QEMU does not answer on its control socket'));
      signal.addEventListener('abort', late, { once: true });
      this.#socket.once('error', (error) => {
        reject(error);
        this.#end(error);
      });
      this.#socket.once('close', () => {
        const error = new QemuError('MACHINE_ENDED', 'the machine has ended');
        reject(error);
        this.#end(error);
      });
      this.#onLine((line) => {
        const message = JSON.parse(line);
        if ('QMP' in message) {
          signal.removeEventListener('abort', late);
          resolve();
        } else this.#receive(message);
      });
    });
  }

  /** Gives each line on. A machine that speaks anything else than its protocol is let go. */
  #onLine(take: (line: string) => void): void {
    let rest = '';
    this.#socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      try {
        if (rest.length > MAX_LINE) throw new QemuError('MACHINE_REFUSED', 'QEMU sends a line without an end');
        for (const line of lines) take(line);
      } catch (error) {
        this.#socket.destroy(error as Error);
      }
    });
  }

  #receive(message: any): void {
    if ('event' in message) {
      this.#events.emit('event', { event: message.event, data: message.data ?? {} });
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('error' in message) waiting?.reject(message.error);
    else waiting?.resolve(message.return);
  }

  #end(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#events.emit('closed', error);
  }

  get isOpen(): boolean {
    return this.#closed === undefined;
  }

  /** Runs a command. Throws {@link QmpRefusal} for what QEMU refuses, `MACHINE_ENDED` when it ends meanwhile. */
  async execute<T = any>(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<T> {
    if (this.#closed) throw this.#closed;
    const id = this.#next++;
    const answered = new Promise<T>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    try {
      return await answered;
    } catch (error) {
      const { class: kind, desc } = error as { class?: string; desc?: string };
      throw kind === undefined ? error : new QmpRefusal(command, kind, desc ?? kind);
    }
  }

  /**
   * Runs a command, and waits for the event that it leads to.
   * @param around what has to hold while the command is run, until it is answered
   */
  async executeUntil(
    command: string,
    args: Readonly<Record<string, unknown>>,
    wanted: (event: QmpEvent) => boolean,
    signal: AbortSignal,
    around: (run: () => Promise<unknown>) => Promise<unknown> = (run) => run(),
  ): Promise<QmpEvent> {
    const refused = new AbortController();
    const executed = around(() => this.execute(command, args)).catch((error) => {
      refused.abort(error);
      throw error;
    });
    const [event] = await Promise.all([this.waitFor(wanted, AbortSignal.any([signal, refused.signal])), executed]);
    return event;
  }

  /**
   * Waits for an event of something that has begun already.
   * @throws the signal's reason, and `MACHINE_ENDED`
   */
  waitFor(wanted: (event: QmpEvent) => boolean, signal: AbortSignal): Promise<QmpEvent> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        this.#events.off('event', heard);
        this.#events.off('closed', closed);
        signal.removeEventListener('abort', aborted);
        then();
      };
      const heard = (event: QmpEvent) => {
        if (wanted(event)) settle(() => resolve(event));
      };
      const closed = (error: Error) => settle(() => reject(error));
      const aborted = () => settle(() => reject(signal.reason));
      if (this.#closed) return reject(this.#closed);
      if (signal.aborted) return reject(signal.reason);
      this.#events.on('event', heard);
      this.#events.on('closed', closed);
      signal.addEventListener('abort', aborted, { once: true });
    });
  }

  /** Hears every event until the connection ends. */
  onEvent(listener: (event: QmpEvent) => void): void {
    this.#events.on('event', listener);
  }

  /** Calls the listener once the connection has ended, for whatever reason. */
  onClosed(listener: () => void): void {
    if (this.#closed) listener();
    else this.#events.once('closed', listener);
  }

  /** Waits until QEMU has ended, or the signal. */
  async untilClosed(signal: AbortSignal): Promise<void> {
    await this.waitFor(() => false, signal).catch((error) => {
      if (signal.aborted && this.isOpen) throw error;
    });
  }

  /**
   * Ends QEMU, with everything written that is on its way to the disk. After ten seconds the connection ends, whatever QEMU does:
   * one that waits for a disk which is out of reach does not even answer.
   */
  async quit(): Promise<void> {
    const late = setTimeout(() => this.close(), QUIT_MS);
    try {
      await Promise.all([this.untilClosed(new AbortController().signal), this.execute('quit').catch(() => {})]);
    } finally {
      clearTimeout(late);
    }
  }

  /** Ends the connection; the machine goes on. */
  close(): void {
    this.#socket.destroy();
  }
}
