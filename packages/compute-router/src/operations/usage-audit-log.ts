import { Rejection } from '@apistrata/compute-engine';
import type { UsageAuditLog } from '@apistrata/compute-engine/api';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';

const auditLogDocs = resource({
  tag: 'usage-audit-log',
  parameters: { id: 'A time, in UTC. Selects the last audit period that ended at or before it.' },
});

/** Descriptions of fields that occur in several places. */
export const usageAuditLogTexts = {
  instanceUsageAuditLogs: 'The usage audits of a period.',
} as const;

const count = z.int().min(0);

const log = z.strictObject({
  hosts_not_run: z.array(z.string()).describe('Hosts that have not started the audit.'),
  log: z
    .record(
      z.string(),
      z.strictObject({
        instances: count.describe('Number of servers on the host.'),
        errors: count.describe('Number of errors on the host.'),
        message: z.string().describe('Result of the audit, as text.'),
        state: z.enum(['RUNNING', 'DONE']).describe('State of the audit: `RUNNING` or `DONE`.'),
      }),
    )
    .describe('Audit results by host name.'),
  num_hosts: count.describe('Number of hosts.'),
  num_hosts_done: count.describe('Number of hosts that completed the audit.'),
  num_hosts_not_run: count.describe('Number of hosts that have not started the audit.'),
  num_hosts_running: count.describe('Number of hosts that are running the audit.'),
  overall_status: z.string().describe('Progress over all hosts, as text.'),
  period_beginning: z.string().describe('Start of the audit period, in UTC.'),
  period_ending: z.string().describe('End of the audit period, in UTC.'),
  total_errors: count.describe('Number of errors on all hosts.'),
  total_instances: count.describe('Number of servers on all hosts.'),
});

/** `YYYY-MM-DD HH:MM:SS` */
function showTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

function show({ beginning, ending, hosts, done }: UsageAuditLog): z.infer<typeof log> {
  const notRun = hosts.filter((host) => !done.some((audit) => audit.host === host));
  const progress = notRun.length === 0 ? 'ALL hosts done.' : `${done.length} of ${hosts.length} hosts done.`;
  return {
    hosts_not_run: notRun,
    log: Object.fromEntries(
      done.map(({ host, instances, message }) => [host, { instances, errors: 0, message, state: 'DONE' as const }]),
    ),
    num_hosts: hosts.length,
    num_hosts_done: done.length,
    num_hosts_not_run: notRun.length,
    num_hosts_running: 0,
    overall_status: `${progress} 0 errors.`,
    period_beginning: showTime(beginning),
    period_ending: showTime(ending),
    total_errors: 0,
    total_instances: done.reduce((sum, { instances }) => sum + instances, 0),
  };
}

/** `YYYY-MM-DD HH:MM:SS[.ffffff]` in UTC, as milliseconds. */
function timeOf(text: string): number {
  const form = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/;
  const time = form.test(text) ? Date.parse(`${text.slice(0, 23).replace(' ', 'T')}Z`) : Number.NaN;
  if (Number.isNaN(time) || !showTime(time).startsWith(text.slice(0, 19)))
    throw new Rejection('BAD_REQUEST', 'Invalid timestamp for before');
  return time;
}

export const usageAuditLog = [
  operation({
    ...auditLogDocs,
    name: 'listUsageAuditLogs',
    method: 'GET',
    path: '/os-instance_usage_audit_log',
    summary: 'Show the usage audits of the last period',
    description: 'Shows the usage audits of the last audit period, by host.',
    policy: 'os_compute_api:os-instance-usage-audit-log:list',
    status: 200,
    reply: { instance_usage_audit_logs: described(usageAuditLogTexts.instanceUsageAuditLogs, log) },
    run: async ({ engine }) => ({ instance_usage_audit_logs: show(await engine.usageAudit.log()) }),
  }),
  operation({
    ...auditLogDocs,
    name: 'showUsageAuditLog',
    method: 'GET',
    path: '/os-instance_usage_audit_log/{id}',
    summary: 'Show the usage audits of the period before a time',
    description: 'Shows the usage audits of the last audit period before a time, by host.',
    policy: 'os_compute_api:os-instance-usage-audit-log:show',
    status: 200,
    errors: [400],
    reply: { instance_usage_audit_log: described(usageAuditLogTexts.instanceUsageAuditLogs, log) },
    run: async ({ engine, params }) => ({
      instance_usage_audit_log: show(await engine.usageAudit.log(timeOf(params.id))),
    }),
  }),
];
