/** What comes while something is on its way goes together, next: the busier it is, the fewer statements each one costs. */
export class Batches<Item> {
  readonly #send: (items: readonly Item[]) => Promise<void>;
  #waiting: Item[] = [];
  #sending: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(send: (items: readonly Item[]) => Promise<void>) {
    this.#send = send;
  }

  /** Resolves when it is sent; rejects when that failed. */
  add(item: Item): Promise<void> {
    this.#waiting.push(item);
    if (!this.#sending) return this.#flush();
    this.#next ??= this.#sending.then(
      () => this.#flush(),
      () => this.#flush(),
    );
    return this.#next;
  }

  #flush(): Promise<void> {
    const items = this.#waiting;
    this.#waiting = [];
    this.#next = undefined;
    const sending = this.#send(items).finally(() => {
      if (this.#sending === sending) this.#sending = undefined;
    });
    this.#sending = sending;
    return sending;
  }
}
