/** An error of the request itself, found before any handler ran. */
export abstract class RequestError extends Error {
  abstract readonly code: string;
  abstract readonly status: number;
}
