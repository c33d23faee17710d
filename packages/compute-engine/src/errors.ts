/** The kinds of refusal the engine knows, with the status that the API answers. */
const statuses = {
  BAD_REQUEST: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  NOT_SUPPORTED: 501,
} as const;

/** Why a request was refused, coarsely; each stands for one HTTP status. */
export type RefusalCode = keyof typeof statuses;

/** A request that cannot be done, with the text its caller reads. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly status: number;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
    this.status = statuses[code];
  }
}

export const badRequest = (message: string) => new Refusal('BAD_REQUEST', message);
export const forbidden = (message: string) => new Refusal('FORBIDDEN', message);
export const notFound = (message: string) => new Refusal('NOT_FOUND', message);
export const conflict = (message: string) => new Refusal('CONFLICT', message);
export const notSupported = (message: string) => new Refusal('NOT_SUPPORTED', message);
