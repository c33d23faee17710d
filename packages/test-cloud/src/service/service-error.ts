/** What a stand-in service answers as an error, in its own form. */
export class ServiceError extends Error {
  readonly code: string;
  readonly status: number;
  /** What was asked for and is not served, where the path alone does not say it: an action. */
  readonly unserved: string | undefined;

  /** @param code names the error, as clients of some services read it: `PortNotFound` */
  constructor(status: number, message: string, code = 'ServiceError', unserved?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.unserved = unserved;
  }
}

export const badRequest = (message: string, code = 'BadRequest') => new ServiceError(400, message, code);
export const forbidden = (message: string, code = 'Forbidden') => new ServiceError(403, message, code);
export const notFound = (message: string, code = 'NotFound') => new ServiceError(404, message, code);
export const conflict = (message: string, code = 'Conflict') => new ServiceError(409, message, code);
/** An action that there may be elsewhere, but not in this cloud. */
export const unservedAction = (action: string) =>
  new ServiceError(501, `This test cloud does not serve the action ${action}`, 'NotImplemented', action);
