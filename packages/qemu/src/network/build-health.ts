import { EventEmitter } from 'node:events';

/**
 * The number of consecutive failures that count as a problem. A single failure can be harmless, for example if another
 * program has just removed a device.
 */
const PROBLEM_THRESHOLD = 2;

/** Tracks whether the networks on this computer can be built, based on the latest attempts. */
export class BuildHealth {
  readonly #log: (line: string) => void;
  readonly #changes = new EventEmitter<{ change: [] }>();
  /**
   * The number of consecutive failures. Initially, a single failure is a problem, because no attempt has succeeded yet.
   */
  #failures = PROBLEM_THRESHOLD - 1;
  #message = '';
  #problem: string | null = null;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Why guests cannot be connected to networks, in one line; null if they can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether the latest attempt to build networks has failed. */
  get isFailing(): boolean {
    return this.#message !== '';
  }

  /** Records a success. @param problem why guests cannot be connected although networks were built; null if they can */
  recordSuccess(problem: string | null = null): void {
    this.#failures = 0;
    this.#message = '';
    if (problem !== this.#problem) this.#log(problem ?? 'guests can be connected to networks again');
    this.#setProblem(problem);
  }

  /**
   * Records that the network plan could not be read. Logs the same failure only once, because attempts are repeated.
   */
  recordUnreadablePlan({ message }: Error): void {
    if (message !== this.#message) this.#log(`networks could not be built: ${message}`);
    this.#message = message;
  }

  /** Records that networks could not be built on this computer. */
  recordFailure(error: Error): void {
    const { message } = error;
    this.recordUnreadablePlan(error);
    this.#failures++;
    if (this.#failures >= PROBLEM_THRESHOLD) this.#setProblem(`networks cannot be built: ${message.split('\n', 1)[0]}`);
  }

  /** Calls the listener when `problem` changes. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#changes.on('change', listener);
    return () => this.#changes.off('change', listener);
  }

  #setProblem(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#changes.emit('change');
  }
}
