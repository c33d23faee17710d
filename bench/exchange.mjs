import { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { interleaved, median } from './samples.mjs';

const sink = new Writable({ write: (_chunk, _encoding, done) => done() });

/**
 * Creates a request and its response as a server would, but without a network. The response writes its head to a sink.
 */
function exchange({ method = 'GET', url, headers, body }) {
  const req = new IncomingMessage(sink);
  req.method = method;
  req.url = url;
  req.headers = { ...headers };
  if (body !== undefined) req.push(body);
  req.push(null);
  req.complete = true;
  const res = new ServerResponse(req);
  res.assignSocket(sink);
  return [req, res];
}

/** Serves one request; resolves with the response after it has ended. */
function serve(listener, request) {
  const [req, res] = exchange(request);
  return new Promise((resolve) => {
    res.once('finish', () => {
      res.detachSocket(sink);
      resolve(res);
    });
    listener(req, res);
  });
}

async function roundUs(listener, request, requests) {
  const start = process.cpuUsage();
  for (let i = 0; i < requests; i++) {
    await serve(listener, request);
    // Lets deferred stream callbacks run, as a server does between requests.
    if (i % 32 === 0) await nextTurn();
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / requests;
}

/**
 * Returns the microseconds of CPU time that a listener needs for one request: the median of several rounds. CPU time is
 * measured instead of wall time, so that other load on the machine has no effect.
 */
export async function requestUs(listener, request, { rounds, warmUpRounds, requests }) {
  await interleaved(warmUpRounds, () => roundUs(listener, request, requests));
  const [samples] = await interleaved(rounds, () => roundUs(listener, request, requests));
  return median(samples);
}

/** Returns the response of a listener: the status, and the body as a string. */
export async function responseTo(listener, request) {
  const chunks = [];
  const [req, res] = exchange(request);
  const { end } = res;
  res.end = (text, ...rest) => {
    if (text !== undefined) chunks.push(text);
    return end.call(res, text, ...rest);
  };
  await new Promise((resolve) => {
    res.once('finish', resolve);
    listener(req, res);
  });
  res.detachSocket(sink);
  return { status: res.statusCode, body: chunks.join('') };
}
