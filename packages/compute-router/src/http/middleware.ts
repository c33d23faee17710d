import type { IncomingMessage, ServerResponse } from 'node:http';

export type Next = (error?: unknown) => void;

/** A middleware for Express and plain `node:http` servers. */
export type Middleware = (req: IncomingMessage, res: ServerResponse, next: Next) => void;
