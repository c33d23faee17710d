import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Alternating names and values, as received. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface TestRequest {
  readonly method?: string;
  readonly path?: string;
  /** A header whose value is a list is sent as several lines. */
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** Serves one request over a real connection. */
export async function sendRequest(
  listener: RequestListener,
  { body, ...query }: TestRequest = {},
): Promise<TestResponse> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await new Promise<TestResponse>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const sent = request({ host: '127.0.0.1', port, agent: false, path: '/', ...query }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk) => chunks.push(chunk));
        res.on('end', () =>
          resolve({
            status: res.statusCode!,
            headers: res.headers,
            rawHeaders: res.rawHeaders,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** The values of all lines of a header, in the order in which they were received. */
export function linesOf(response: TestResponse, name: string): string[] {
  return response.rawHeaders.filter(
    (_, index, all) => index % 2 === 1 && all[index - 1]!.toLowerCase() === name.toLowerCase(),
  );
}
