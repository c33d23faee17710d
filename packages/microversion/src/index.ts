export { accepts } from './accept.js';
export { byVersion } from './by-version.js';
export {
  type ApiVersion,
  type Discovery,
  type DiscoveryOptions,
  discovery,
  type VersionChoice,
  type VersionDetail,
  type VersionEntry,
  type VersionLink,
} from './discovery.js';
export { apiSigError } from './error-bodies/api-sig-error.js';
export { computeFault } from './error-bodies/compute-fault.js';
export type { ErrorBody, ErrorFormat } from './error-bodies/error-body.js';
export { genericError } from './error-bodies/generic-error.js';
export {
  InvalidVersionHeader,
  MicroversionError,
  type MicroversionErrorCode,
  RequestError,
  type Served,
  UnacceptableVersion,
} from './errors.js';
export { checkJsonText, checkJsonValue, defaultJsonLimits, type JsonLimits } from './json-limits.js';
export type { FlavourName } from './negotiation/flavours.js';
export type { HeaderNames, HeaderPreset } from './negotiation/header-names.js';
export { type MicroversionMiddleware, type MicroversionOptions, microversion } from './negotiation/microversion.js';
export { microversionOf } from './negotiation/negotiated.js';
export { type Negotiation, type Negotiator, type NegotiatorOptions, negotiator } from './negotiation/negotiator.js';
export type { RefusalOptions } from './negotiation/refusal.js';
export { requestBase, type TrustProxy } from './request-base.js';
export { Version, type VersionLike } from './version.js';
export {
  at,
  between,
  breakpointsOf,
  notAfter,
  notBefore,
  since,
  until,
  Window,
  type Windowed,
  type WindowKind,
  windowsOf,
} from './windowed.js';
