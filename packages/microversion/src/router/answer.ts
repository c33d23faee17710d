/** An answer that says more than its body: another status, headers, or raw content. */
export class Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** A value of the operation's reply shape; undefined for an empty body. */
  readonly body: unknown;
  /** Content sent as it is instead of a rendered body. */
  readonly raw: string | Buffer | undefined;

  constructor(parts: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly raw?: string | Buffer;
  }) {
    this.status = parts.status;
    this.headers = parts.headers ?? {};
    this.body = parts.body;
    this.raw = parts.raw;
  }
}

/** Makes an {@link Answer}. */
export function answer(parts: ConstructorParameters<typeof Answer>[0]): Answer {
  return new Answer(parts);
}
