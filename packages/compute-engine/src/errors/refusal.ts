import { EngineError } from './engine-error.js';

/** Why a request was refused, coarsely; each stands for one HTTP status. */
export type RefusalCode = 'BAD_REQUEST' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'NOT_SUPPORTED';

/** A request that cannot be done, with the text its caller reads. */
export class Refusal extends EngineError<RefusalCode> {}

export const badRequest = (message: string) => new Refusal('BAD_REQUEST', message);
export const forbidden = (message: string) => new Refusal('FORBIDDEN', message);
export const notFound = (message: string) => new Refusal('NOT_FOUND', message);
export const conflict = (message: string) => new Refusal('CONFLICT', message);
export const notSupported = (message: string) => new Refusal('NOT_SUPPORTED', message);
