import { createServer } from 'node:http2';
import { listener } from './node-http.mjs';

// The compatibility API of `node:http2` has the same request and response members as `node:http`.
export const server = createServer(listener).listen(Number(process.env.HTTP2_PORT ?? 3001));
