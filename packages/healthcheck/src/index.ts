export type { Check, CheckReport, CheckResult, CheckState, CheckTiming } from './check.js';
export { type CertificateOptions, certificate } from './checks/certificate.js';
export { type DiskSpaceOptions, diskSpace } from './checks/disk-space.js';
export {
  type EventLoopDelayOptions,
  type EventLoopUtilizationOptions,
  eventLoopDelay,
  eventLoopUtilization,
} from './checks/event-loop.js';
export type { LimitOptions } from './checks/limit-options.js';
export { type HeapOptions, heap, type RssOptions, rss } from './checks/memory.js';
export { type HttpOptions, http, type TcpOptions, tcp } from './checks/network.js';
export { type PingOptions, ping } from './checks/ping.js';
export { type CodeOptions, healthcheckFromConfig } from './config-record.js';
export type { HealthChange, HealthStatus } from './endpoint.js';
export type {
  HealthcheckErrorBody,
  HealthcheckErrorFormat,
  HealthcheckErrorsOption,
} from './error-response.js';
export { HealthcheckConfigError, HealthcheckError, HealthcheckUnavailable } from './errors.js';
export type { JsonFormat, PageLink, ServiceInfo } from './extras.js';
export { type Healthcheck, healthcheck } from './healthcheck.js';
export type { HealthcheckLog } from './log.js';
export type { BackendList, GroupOptions, HealthcheckOptions } from './options.js';
