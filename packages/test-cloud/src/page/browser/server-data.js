/** What the cloud answers, as JSON. Throws an Error with its own words for what it refuses. */
export async function ask(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const answer = text === '' ? undefined : JSON.parse(text);
  if (!response.ok) throw new Error(answer?.error?.message ?? `The cloud answered ${response.status}.`);
  return answer;
}
