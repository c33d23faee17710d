import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Names and values in turn, as they came over the wire. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Question {
  readonly method?: string;
  readonly path?: string;
  /** A list as value is sent as several lines. */
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** Serves one question over a real connection. */
export async function ask(listener: RequestListener, { body, ...question }: Question = {}): Promise<Answer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const sent = request({ host: '127.0.0.1', port, agent: false, path: '/', ...question }, (res) => {
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

/** The values of every line of a header, in the order of the wire. */
export function linesOf(answer: Answer, name: string): string[] {
  return answer.rawHeaders.filter(
    (_, index, all) => index % 2 === 1 && all[index - 1]!.toLowerCase() === name.toLowerCase(),
  );
}
