import { credentials } from './compute.js';
import { byId, cell, code, element, timeOf } from './elements.js';

const SHOWN_EVENTS = 200;
const RETRY_MS = 5_000;
const { events: address } = document.documentElement.dataset;

const NOT_STORED = 'This server does not store events: start it with --events.';
/**
 * The notes for statuses after which a retry cannot succeed. Without events, the path belongs to the compute API, which
 * responds with 300 and the list of its versions.
 */
const FINAL_NOTES = { 300: NOT_STORED, 403: 'Only administrators can read events.', 404: NOT_STORED };

function show({ event, data }) {
  const { timestamp, payload } = JSON.parse(data);
  const { uuid, display_name: name, host } = payload['nova_object.data'] ?? {};
  const row = element(
    'tr',
    {},
    cell(timeOf(`${timestamp.replace(' ', 'T')}Z`)),
    cell(code(event)),
    cell(uuid ? element('a', { href: `#servers/${uuid}` }, name ?? uuid) : '–'),
    cell(host || '–'),
  );
  const body = byId('events');
  body.prepend(row);
  while (body.children.length > SHOWN_EVENTS) body.lastElementChild.remove();
}

/** Reads server-sent events from a response. `EventSource` is unsuitable, because it cannot send a token. */
async function read(body, onEvent) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (text + value).split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/, 2)));
      if (fields.has('event')) onEvent({ id: fields.get('id'), event: fields.get('event'), data: fields.get('data') });
    }
  }
}

/**
 * Shows events as they happen, until the visitor signs out.
 *
 * @param {AbortSignal} signal
 * @param {() => void} onEvent called after each event
 */
export async function followEvents(signal, onEvent) {
  let last;
  const note = byId('events-note');
  while (!signal.aborted) {
    try {
      const headers = { ...credentials(), ...(last === undefined ? {} : { 'Last-Event-ID': last }) };
      const response = await fetch(address, { headers, signal });
      if (FINAL_NOTES[response.status]) {
        note.textContent = FINAL_NOTES[response.status];
        return;
      }
      if (response.ok) {
        note.textContent = 'New events appear here as they happen.';
        await read(response.body, (event) => {
          last = event.id;
          show(event);
          onEvent();
        });
      }
    } catch {
      if (signal.aborted) return;
    }
    note.textContent = 'Reconnecting to the stream.';
    await new Promise((resolve) => {
      setTimeout(resolve, RETRY_MS);
    });
  }
}
