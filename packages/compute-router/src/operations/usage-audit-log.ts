import { Rejection } from '@apistrata/compute-engine';
import type { UsageAuditLog } from '@apistrata/compute-engine/api';
import { derive, described, type Infer, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';

const auditLogDocs = resource({
  tag: 'usage-audit-log',
  parameters: {
    id: 'A time, in UTC, in the format `YYYY-MM-DD HH:MM:SS`, optionally with a fraction of a second. The response describes the last audit period that ended at or before this time.',
  },
});

/** OpenAPI descriptions that several fields share. */
export const usageAuditLogTexts = {
  instanceUsageAuditLogs: 'The usage audits of an audit period.',
} as const;

const count = z.int().min(0);

const auditLogSchema = object({
  hosts_not_run: described('Names of the hosts that have not started the audit.', z.array(z.string())),
  log: described(
    'Audit results by host name.',
    derive(
      object({
        instances: described('Number of servers on the host.', count),
        errors: described('Number of errors during the audit of the host.', count),
        message: described('Result of the audit as readable text.', z.string()),
        state: described('State of the audit: `RUNNING` or `DONE`.', z.enum(['RUNNING', 'DONE'])),
      }),
      (item) => z.record(z.string(), item),
    ),
  ),
  num_hosts: described('Number of hosts.', count),
  num_hosts_done: described('Number of hosts that completed the audit.', count),
  num_hosts_not_run: described('Number of hosts that have not started the audit.', count),
  num_hosts_running: described('Number of hosts that are running the audit.', count),
  overall_status: described('Progress of the audits on all hosts as readable text.', z.string()),
  period_beginning: described('Start of the audit period, in UTC.', z.string()),
  period_ending: described('End of the audit period, in UTC.', z.string()),
  total_errors: described('Number of errors during the audits of all hosts.', count),
  total_instances: described('Number of audited servers on all hosts.', count),
});

/** Formats a time in milliseconds as `YYYY-MM-DD HH:MM:SS`. */
function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

function formatAuditLog({ beginning, ending, hosts, done }: UsageAuditLog): Infer<typeof auditLogSchema> {
  const pendingHosts = hosts.filter((host) => !done.some((audit) => audit.host === host));
  const progress = pendingHosts.length === 0 ? 'ALL hosts done.' : `${done.length} of ${hosts.length} hosts done.`;
  return {
    hosts_not_run: pendingHosts,
    log: Object.fromEntries(
      done.map(({ host, instances, message }) => [host, { instances, errors: 0, message, state: 'DONE' as const }]),
    ),
    num_hosts: hosts.length,
    num_hosts_done: done.length,
    num_hosts_not_run: pendingHosts.length,
    num_hosts_running: 0,
    overall_status: `${progress} 0 errors.`,
    period_beginning: formatTime(beginning),
    period_ending: formatTime(ending),
    total_errors: 0,
    total_instances: done.reduce((sum, { instances }) => sum + instances, 0),
  };
}

/** Converts a UTC time in the format `YYYY-MM-DD HH:MM:SS[.ffffff]` to milliseconds since the epoch. */
function parseTime(text: string): number {
  const pattern = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/;
  const time = pattern.test(text) ? Date.parse(`${text.slice(0, 23).replace(' ', 'T')}Z`) : Number.NaN;
  if (Number.isNaN(time) || !formatTime(time).startsWith(text.slice(0, 19)))
    throw new Rejection('BAD_REQUEST', 'Invalid timestamp for before');
  return time;
}

export const usageAuditLog = [
  operation({
    ...auditLogDocs,
    name: 'listUsageAuditLogs',
    method: 'GET',
    path: '/os-instance_usage_audit_log',
    summary: 'Show the usage audits of the last audit period',
    description: 'Shows the usage audits of the last audit period, by host.',
    policy: 'os_compute_api:os-instance-usage-audit-log:list',
    status: 200,
    reply: { instance_usage_audit_logs: described(usageAuditLogTexts.instanceUsageAuditLogs, auditLogSchema) },
    run: async ({ engine }) => ({ instance_usage_audit_logs: formatAuditLog(await engine.usageAudit.log()) }),
  }),
  operation({
    ...auditLogDocs,
    name: 'showUsageAuditLog',
    method: 'GET',
    path: '/os-instance_usage_audit_log/{id}',
    summary: 'Show the usage audits of the audit period before a time',
    description: 'Shows the usage audits of the last audit period before a time, by host.',
    policy: 'os_compute_api:os-instance-usage-audit-log:show',
    status: 200,
    errors: [400],
    reply: { instance_usage_audit_log: described(usageAuditLogTexts.instanceUsageAuditLogs, auditLogSchema) },
    run: async ({ engine, params }) => ({
      instance_usage_audit_log: formatAuditLog(await engine.usageAudit.log(parseTime(params.id))),
    }),
  }),
];
