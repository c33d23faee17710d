export {
  type Client,
  type ClientOptions,
  type ClientResult,
  createClient,
  type UndocumentedStatus,
} from './create-client.js';
export type {
  ErrorStatus,
  OperationKey,
  ProblemDetails,
  RequestArguments,
  RequestParts,
  ResponseBody,
  TypedApi,
} from './types.js';
