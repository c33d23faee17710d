import { EngineError } from './engine-error.js';

/** Category of a rejection; each corresponds to one HTTP status. */
export type RejectionCode = 'BAD_REQUEST' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'NOT_SUPPORTED';

/** Thrown for a rejected request; the caller receives the message. */
export class Rejection extends EngineError<RejectionCode> {}

export const badRequest = (message: string) => new Rejection('BAD_REQUEST', message);
export const forbidden = (message: string) => new Rejection('FORBIDDEN', message);
export const notFound = (message: string) => new Rejection('NOT_FOUND', message);
export const conflict = (message: string) => new Rejection('CONFLICT', message);
export const notSupported = (message: string) => new Rejection('NOT_SUPPORTED', message);
