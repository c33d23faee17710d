export { corsHeaders } from './cors-headers.js';
export { currentRequestId } from './current.js';
export { genReqId } from './gen-req-id.js';
export type { IdFormat } from './generators.js';
export { headersFor } from './headers-for.js';
export { type RequestIds, requestIdOf } from './issued.js';
export type { PresetName } from './presets.js';
export { type RequestIdMiddleware, requestId } from './request-id.js';
export type { DroppedId, RequestIdOptions } from './settings.js';
