/** A handler result with more than a body: a different status, headers, or raw content. */
export class PreparedResponse {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** A value that matches the operation's reply shape; undefined for an empty body. */
  readonly body: unknown;
  /** Response content that is sent unchanged, instead of a rendered body. */
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

/** Creates a {@link PreparedResponse}. */
export function prepareResponse(parts: ConstructorParameters<typeof PreparedResponse>[0]): PreparedResponse {
  return new PreparedResponse(parts);
}
