import { DefaultReporter, type TestModule, type TestSpecification } from 'vitest/node';

const SHOWN_SLOWEST = 5;
/** Runs of at most this many files list each of them. */
const LISTED_FILES = 20;
const TICK_MS = { terminal: 250, elsewhere: 60_000 };

/** The stream that receives the progress. */
interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Vitest's default reporter, which names each file, shows only the progress of a long run: one line that is updated on
 * a terminal, one line per minute otherwise. A failed file is shown immediately, the slowest files at the end.
 */
export default class RunProgress extends DefaultReporter {
  readonly #out: Output;
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  #files = { done: 0, all: 0 };
  #began = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ out = process.stdout }: { readonly out?: Output } = {}) {
    super({ summary: false });
    this.#out = out;
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = { done: 0, all: specifications.length };
    Object.assign(this.#counts, { passed: 0, failed: 0, skipped: 0 });
    this.#began = Date.now();
    if (this.#isShort()) return;
    this.#timer = setInterval(() => this.#show(), this.#out.isTTY ? TICK_MS.terminal : TICK_MS.elsewhere);
    this.#timer.unref();
  }

  override printTestModule(module: TestModule): void {
    this.#files.done++;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state !== 'pending') this.#counts[state]++;
    }
    if (!this.#isShort() && module.state() !== 'failed') return;
    this.#clear();
    super.printTestModule(module);
  }

  override onUserConsoleLog(...args: Parameters<DefaultReporter['onUserConsoleLog']>): void {
    this.#clear();
    super.onUserConsoleLog(...args);
  }

  override onTestRunEnd(...args: Parameters<DefaultReporter['onTestRunEnd']>): void {
    clearInterval(this.#timer);
    this.#clear();
    super.onTestRunEnd(...args);
    if (this.#isShort()) return;
    const timed = args[0].map((module) => ({ name: module.relativeModuleId, ms: module.diagnostic().duration }));
    timed.sort((a, b) => b.ms - a.ms);
    this.#out.write(`The slowest of ${timed.length} files:\n`);
    for (const { name, ms } of timed.slice(0, SHOWN_SLOWEST))
      this.#out.write(`${(ms / 1000).toFixed(1).padStart(8)} s  ${name}\n`);
  }

  #isShort(): boolean {
    return this.#files.all <= LISTED_FILES;
  }

  #clear(): void {
    if (this.#out.isTTY && !this.#isShort()) this.#out.write('\r\x1b[2K');
  }

  #show(): void {
    const { passed, failed, skipped } = this.#counts;
    const minutes = ((Date.now() - this.#began) / 60_000).toFixed(1);
    const files = `${this.#files.done} of ${this.#files.all} files`;
    const line = `${files}: ${passed} passed, ${failed} failed, ${skipped} skipped, ${minutes} min`;
    this.#clear();
    this.#out.write(this.#out.isTTY ? line.slice(0, (this.#out.columns ?? 80) - 1) : `${line}\n`);
  }
}
