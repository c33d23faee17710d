import { TestCloudError } from '../errors.js';

/** An error that a service of the cloud returns, in the service's format. */
export class ServiceError extends TestCloudError {
  /** The error type, such as `PortNotFound`, which clients of some services read. */
  readonly type: string;
  /** The unsupported action, which the request's path does not identify. */
  readonly unhandled: string | undefined;

  constructor(status: number, message: string, type = 'ServiceError', unhandled?: string) {
    super('REQUEST_REJECTED', message, { status });
    this.type = type;
    this.unhandled = unhandled;
  }
}

export const badRequest = (message: string, type = 'BadRequest') => new ServiceError(400, message, type);
export const forbidden = (message: string, type = 'Forbidden') => new ServiceError(403, message, type);
export const notFound = (message: string, type = 'NotFound') => new ServiceError(404, message, type);
export const conflict = (message: string, type = 'Conflict') => new ServiceError(409, message, type);
/** Creates the error for an action that this cloud does not support. */
export const unsupportedAction = (action: string) =>
  new ServiceError(501, `This cloud does not serve the action ${action}`, 'NotImplemented', action);
/** Creates the error for a resource that would be stored without effect. */
export const recordOnlyError = (path: string) =>
  new ServiceError(
    501,
    `This cloud does not create ${path}: it would have no effect on real machines`,
    'NotImplemented',
  );
