/**
 * Sends a request and returns the JSON of its response.
 *
 * @throws Error with the message of the server, and with the `status` of the response; 0 if there was no response
 */
export async function requestJson(method, path, body, headers = {}) {
  const response = await fetch(path, {
    method,
    headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => {
    throw Object.assign(new Error('The server does not respond.'), { status: 0 });
  });
  const text = await response.text();
  if (response.ok) return text === '' ? undefined : JSON.parse(text);
  throw Object.assign(new Error(messageIn(text) ?? `The server responded with ${response.status}.`), {
    status: response.status,
  });
}

/** Returns an error's message. Each service wraps it in an object under a different key. */
function messageIn(text) {
  try {
    const [fault] = Object.values(JSON.parse(text));
    return fault?.message;
  } catch {
    return undefined;
  }
}
