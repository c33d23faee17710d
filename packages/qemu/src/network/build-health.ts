import { EventEmitter } from 'node:events';

/** The number of failures that count as a problem. A single one may be a coincidence, such as a device that another program removes. */
const FAILURES = 2;

/** Records whether the networks of this computer can be built, according to the last attempts. */
export class BuildHealth {
  readonly #log: (line: string) => void;
  readonly #changes = new EventEmitter<{ change: [] }>();
  /** As long as no attempt has succeeded, the first failure is a problem. */
  #failures = FAILURES - 1;
  #message = '';
  #problem: string | null = null;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Why guests cannot be connected, in one line; null: they can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether the last attempt has failed. */
  get failing(): boolean {
    return this.#message !== '';
  }

  /** Records a success. @param problem why guests cannot be connected although networks were built; null: they can */
  succeeded(problem: string | null = null): void {
    this.#failures = 0;
    this.#message = '';
    if (problem !== this.#problem) this.#log(problem ?? 'guests can be connected again');
    this.#change(problem);
  }

  /** Records that the plan could not be read. Attempts are repeated, so the same failure is logged once. */
  unplanned({ message }: Error): void {
    if (message !== this.#message) this.#log(`networks could not be built: ${message}`);
    this.#message = message;
  }

  /** Records a failure of this computer, not of the database that contains the plan. */
  failed(error: Error): void {
    const { message } = error;
    this.unplanned(error);
    this.#failures++;
    if (this.#failures >= FAILURES) this.#change(`networks cannot be built: ${message.split('\n', 1)[0]}`);
  }

  /** Calls a listener when `problem` has changed. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#changes.on('change', listener);
    return () => this.#changes.off('change', listener);
  }

  #change(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#changes.emit('change');
  }
}
