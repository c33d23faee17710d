import { createServer } from 'node:http2';
import { listener } from './node-http.mjs';

// The compatibility API of `node:http2` has the members of requests and responses of `node:http`.
export const server = createServer(listener).listen(Number(process.env.HTTP2_PORT ?? 3001));
