import { TestCloudError } from '../errors.js';

/** What a stand-in service answers as an error, in its own form. */
export class ServiceError extends TestCloudError {
  /** Names the error, as clients of some services read it: `PortNotFound`. */
  readonly type: string;
  /** What was asked for and is not served, where the path alone does not say it: an action. */
  readonly unserved: string | undefined;

  constructor(status: number, message: string, type = 'ServiceError', unserved?: string) {
    super('SERVICE_REFUSED', message, { status });
    this.type = type;
    this.unserved = unserved;
  }
}

export const badRequest = (message: string, type = 'BadRequest') => new ServiceError(400, message, type);
export const forbidden = (message: string, type = 'Forbidden') => new ServiceError(403, message, type);
export const notFound = (message: string, type = 'NotFound') => new ServiceError(404, message, type);
export const conflict = (message: string, type = 'Conflict') => new ServiceError(409, message, type);
/** An action that there may be elsewhere, but not in this cloud. */
export const unservedAction = (action: string) =>
  new ServiceError(501, `This test cloud does not serve the action ${action}`, 'NotImplemented', action);
