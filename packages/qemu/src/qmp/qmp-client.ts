import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { QemuError } from '../qemu-error.js';

/** An asynchronous event that QEMU has sent. */
export interface QmpEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface PendingCommand {
  readonly resolve: (value: any) => void;
  readonly reject: (error: Error) => void;
}

const GREETING_TIMEOUT_MS = 10_000;
const QUIT_TIMEOUT_MS = 10_000;
const MAX_LINE_LENGTH = 2 ** 24;

/** The error for a QMP command that QEMU rejected. */
export class QmpCommandError extends QemuError {
  constructor(
    readonly command: string,
    /** The QMP error class: `GenericError`, `DeviceNotFound`, ... */
    readonly kind: string,
    description: string,
  ) {
    super('QEMU_COMMAND_FAILED', `${command}: ${description}`);
  }
}

/** A client for the QEMU Machine Protocol (QMP) on a Unix socket. QEMU serves one client at a time. */
export class QmpClient {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, PendingCommand>();
  readonly #events = new EventEmitter<{ event: [QmpEvent]; closed: [Error] }>();
  #nextId = 1;
  #closed: Error | undefined;
  #commandCheck: (command: string) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#events.setMaxListeners(0);
  }

  /** Connects to QEMU and negotiates. Rejects with the socket's error, or if QEMU sends no greeting in time. */
  static async connect(path: string): Promise<QmpClient> {
    const socket = connect(path);
    const client = new QmpClient(socket);
    const timeout = setTimeout(() => socket.destroy(), GREETING_TIMEOUT_MS);
    try {
      await client.#receiveGreeting(AbortSignal.timeout(GREETING_TIMEOUT_MS));
      await client.execute('qmp_capabilities');
      return client;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timeout);
    }
  }

  #receiveGreeting(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timeout = () => reject(new QemuError('QEMU_COMMAND_FAILED', 'QEMU does not respond on its control socket'));
      signal.addEventListener('abort', timeout, { once: true });
      this.#socket.once('error', (error) => {
        reject(error);
        this.#end(error);
      });
      this.#socket.once('close', () => {
        const error = new QemuError('MACHINE_ENDED', 'the machine is no longer running');
        reject(error);
        this.#end(error);
      });
      this.#onLine((line) => {
        const message = JSON.parse(line);
        if ('QMP' in message) {
          signal.removeEventListener('abort', timeout);
          resolve();
        } else this.#receive(message);
      });
    });
  }

  /** Calls the listener with each line of input. Disconnects if QEMU violates the protocol. */
  #onLine(listener: (line: string) => void): void {
    let rest = '';
    this.#socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      try {
        if (rest.length > MAX_LINE_LENGTH)
          throw new QemuError('QEMU_COMMAND_FAILED', 'QEMU sent a line that is too long');
        for (const line of lines) listener(line);
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

  /**
   * Runs a QMP command.
   * @throws QmpCommandError if QEMU rejects it, `MACHINE_ENDED` if QEMU exits before the response
   */
  async execute<T = any>(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<T> {
    if (this.#closed) throw this.#closed;
    this.#commandCheck(command);
    const id = this.#nextId++;
    const response = new Promise<T>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    try {
      return await response;
    } catch (error) {
      const { class: kind, desc } = error as { class?: string; desc?: string };
      throw kind === undefined ? error : new QmpCommandError(command, kind, desc ?? kind);
    }
  }

  /**
   * Runs a QMP command, and waits for the event that reports its completion.
   *
   * @param around a function that calls its argument to run the command, and may do other work before and after
   */
  async executeUntil(
    command: string,
    args: Readonly<Record<string, unknown>>,
    matches: (event: QmpEvent) => boolean,
    signal: AbortSignal,
    around: (run: () => Promise<unknown>) => Promise<unknown> = (run) => run(),
  ): Promise<QmpEvent> {
    const rejection = new AbortController();
    const execution = around(() => this.execute(command, args)).catch((error) => {
      rejection.abort(error);
      throw error;
    });
    const [event] = await Promise.all([this.waitFor(matches, AbortSignal.any([signal, rejection.signal])), execution]);
    return event;
  }

  /**
   * Waits for a matching event of a command that has already been run.
   *
   * @throws the signal's reason if it is aborted, or `MACHINE_ENDED` if QEMU exits
   */
  waitFor(matches: (event: QmpEvent) => boolean, signal: AbortSignal): Promise<QmpEvent> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        this.#events.off('event', eventListener);
        this.#events.off('closed', closed);
        signal.removeEventListener('abort', abortListener);
        settle();
      };
      const eventListener = (event: QmpEvent) => {
        if (matches(event)) finish(() => resolve(event));
      };
      const closed = (error: Error) => finish(() => reject(error));
      const abortListener = () => finish(() => reject(signal.reason));
      if (this.#closed) return reject(this.#closed);
      if (signal.aborted) return reject(signal.reason);
      this.#events.on('event', eventListener);
      this.#events.on('closed', closed);
      signal.addEventListener('abort', abortListener, { once: true });
    });
  }

  /** Subscribes to all QEMU events until the connection ends. */
  onEvent(listener: (event: QmpEvent) => void): void {
    this.#events.on('event', listener);
  }

  /** Sets a function that is called before each command. If the function throws, the command is not sent. */
  setCommandCheck(commandCheck: (command: string) => void): void {
    this.#commandCheck = commandCheck;
  }

  /** Calls the listener when the connection ends, for any reason. */
  onClosed(listener: () => void): void {
    if (this.#closed) listener();
    else this.#events.once('closed', listener);
  }

  /** Resolves when QEMU has exited; rejects when the signal is aborted. */
  async waitUntilClosed(signal: AbortSignal): Promise<void> {
    await this.waitFor(() => false, signal).catch((error) => {
      if (signal.aborted && this.isOpen) throw error;
    });
  }

  /**
   * Makes QEMU write all data to the disks and exit. Closes the connection after ten seconds in any case, because a
   * QEMU process that waits for an unreachable disk does not respond.
   */
  async quit(): Promise<void> {
    const timeout = setTimeout(() => this.close(), QUIT_TIMEOUT_MS);
    try {
      await Promise.all([this.waitUntilClosed(new AbortController().signal), this.execute('quit').catch(() => {})]);
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Closes the connection. The machine continues to run. */
  close(): void {
    this.#socket.destroy();
  }
}
