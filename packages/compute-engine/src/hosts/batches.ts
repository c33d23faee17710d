interface WaitingItem<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends items in batches: items that are added while a batch is being sent form the next one. Under load, this needs
 * fewer statements per item.
 */
export class BatchSender<Item> {
  readonly #send: (items: readonly Item[]) => Promise<void>;
  readonly #isOutage: (error: unknown) => boolean;
  #waiting: WaitingItem<Item>[] = [];
  #sending = false;

  /**
   * @param send sends all items or none
   * @param isOutage returns whether an error affects all items. After any other error, the items of a batch are sent
   * one by one, so that an item that cannot be sent does not make the others fail.
   */
  constructor(send: (items: readonly Item[]) => Promise<void>, isOutage: (error: unknown) => boolean) {
    this.#send = send;
    this.#isOutage = isOutage;
  }

  /** Sends an item with the next batch. Rejects if that fails. */
  add(item: Item): Promise<void> {
    const done = new Promise<void>((resolve, reject) => this.#waiting.push({ item, resolve, reject }));
    if (!this.#sending) void this.#flush();
    return done;
  }

  async #flush(): Promise<void> {
    this.#sending = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#sendBatch(batch);
    }
    this.#sending = false;
  }

  async #sendBatch(batch: readonly WaitingItem<Item>[]): Promise<void> {
    try {
      await this.#send(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length > 1 && !this.#isOutage(error))
        for (const waitingItem of batch) await this.#sendBatch([waitingItem]);
      else for (const { reject } of batch) reject(error);
    }
  }
}
