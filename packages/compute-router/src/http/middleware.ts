import type { IncomingMessage, ServerResponse } from 'node:http';

export type Next = (error?: unknown) => void;

/** A middleware as Express and plain `node:http` servers take it. */
export type Middleware = (req: IncomingMessage, res: ServerResponse, next: Next) => void;
