export { accepts } from './accept.js';
export { type ByVersionOptions, byVersion } from './by-version.js';
export { corsHeaders } from './cors-headers.js';
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
export { jsonError, type ProblemOptions, problem, problemBody, type SentError } from './error-bodies/problem.js';
export {
  InvalidVersionHeader,
  MicroversionError,
  type MicroversionErrorCode,
  notInVersion,
  RequestError,
  type SupportedVersions,
  UnacceptableVersion,
} from './errors.js';
export { checkJsonText, checkJsonValue, defaultJsonLimits, type JsonLimits } from './json-limits.js';
export { migrated } from './migrations/migrated.js';
export {
  type Conversions,
  type Convert,
  type Migrations,
  migrations,
  type VersionChange,
} from './migrations/migrations.js';
export { announceEnd, type ErrorsOption } from './negotiation/error-response.js';
export type { HeaderNames, HeaderPreset } from './negotiation/header-names.js';
export type { HeaderStyleName } from './negotiation/header-styles.js';
export { type MicroversionMiddleware, type MicroversionOptions, microversion } from './negotiation/microversion.js';
export { microversionOf } from './negotiation/negotiated.js';
export { type Negotiation, type Negotiator, type NegotiatorOptions, negotiator } from './negotiation/negotiator.js';
export { rejectUnknownOptions } from './negotiation/reject-unknown.js';
export type { VersionMiddleware } from './negotiation/version-middleware.js';
export { requestBase, type TrustProxy } from './request-base.js';
export { dates, integers, majorMinor, semver, type VersionNumbers, type VersionScheme } from './schemes.js';
export { Version, type VersionLike } from './version.js';
export type { DateLike, VersionRecord } from './versioning/lifecycle.js';
export {
  acceptParameter,
  acceptVersion,
  header,
  pathPrefix,
  queryParameter,
  type VersionSource,
} from './versioning/sources.js';
export { type UsageReport, type UsageReportOptions, usageReport } from './versioning/usage.js';
export type { UnlistedVersions } from './versioning/version-list.js';
export type { ClientUsage, VersionUsage } from './versioning/version-usage.js';
export {
  type ClientVersion,
  type VersioningMiddleware,
  type VersioningOptions,
  type VersionUse,
  versioning,
} from './versioning/versioning.js';
export {
  at,
  before,
  between,
  breakpointsOf,
  isWindowed,
  mergeBreakpoints,
  notAfter,
  notBefore,
  PerInterval,
  since,
  type UpperBound,
  until,
  Window,
  type Windowed,
  type WindowKind,
  windowsOf,
} from './windowed.js';
