import type { IncomingMessage } from 'node:http';
import type { Settings } from './settings.js';

/** Returns the first valid id in the inbound headers. Invalid ids before it are dropped and reported to `onDropped`. */
export function inboundIdOf(req: IncomingMessage, settings: Settings): string | undefined {
  for (const { name, key } of settings.inbound) {
    const value = req.headers[key];
    if (value === undefined || value === '') continue;
    // Node joins repeated headers with a comma, which no valid id contains.
    const text = String(value);
    const id = settings.read(text.trim());
    if (id !== undefined) return id;
    settings.onDropped?.({ header: name, value: text, req });
  }
  return undefined;
}
