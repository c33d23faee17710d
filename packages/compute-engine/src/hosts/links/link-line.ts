import type { Duplex } from 'node:stream';

/** Longer lines are refused. */
const MAX_BYTES = 2 ** 20;
const NEWLINE = 10;

/** What begins a link, each way: one line of JSON. */
export function linkLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Reads the line that begins a link; what follows it stays in the stream. */
export async function readLinkLine(stream: Duplex, signal: AbortSignal): Promise<any> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const piece: Buffer | null = stream.read();
    if (piece === null) {
      await readable(stream, signal);
      continue;
    }
    const end = piece.indexOf(NEWLINE);
    pieces.push(end < 0 ? piece : piece.subarray(0, end));
    bytes += piece.length;
    if (bytes > MAX_BYTES && (end < 0 || bytes - piece.length + end > MAX_BYTES))
      throw new Error('the line that begins a link is too long');
    if (end < 0) continue;
    if (end + 1 < piece.length) stream.unshift(piece.subarray(end + 1));
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  }
}

/** Resolves when there is something to read; rejects when nothing comes any more. */
function readable(stream: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => {
      stream.off('readable', ready).off('end', ended).off('close', ended).off('error', failed);
      signal.removeEventListener('abort', aborted);
      then();
    };
    const ready = () => settle(resolve);
    const ended = () => settle(() => reject(new Error('the link has ended')));
    const failed = (error: Error) => settle(() => reject(error));
    const aborted = () => settle(() => reject(signal.reason));
    if (stream.destroyed || stream.readableEnded) return reject(stream.errored ?? new Error('the link has ended'));
    stream.on('readable', ready).on('end', ended).on('close', ended).on('error', failed);
    signal.addEventListener('abort', aborted, { once: true });
  });
}
