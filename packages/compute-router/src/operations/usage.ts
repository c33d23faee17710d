import { Rejection } from '@apistrata/compute-engine';
import type { UsageWindow } from '@apistrata/compute-engine/api';
import { at, since } from '@apistrata/microversion';
import { described, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { nextLink, pageSize } from '../http/paging.js';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { collectionLinks } from '../schemas/reply-types.js';
import { limitSchema } from '../schemas/types.js';
import { listedUsage, shownUsage } from '../views/usage.js';

const usageDocs = resource({
  tag: 'usage',
  parameters: { id: 'ID of the project.' },
});

const periodQuery = {
  start: described(
    'Start of the period, in UTC, as `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM:SS`, optionally with a fraction of a second. Default: now, which makes the period empty.',
    one(z.string(), 'first'),
  ),
  end: described('End of the period, in the same format as `start`. Default: now.', one(z.string(), 'first')),
};
const pagingQuery = {
  limit: since('2.40', described('Maximum number of servers per page.', one(limitSchema))),
  marker: since('2.40', described('UUID of the last server on the previous page.', one(z.string()))),
};
const showQuery = query({ ...periodQuery, ...pagingQuery }, { extra: rejectedSince275 });
const listQuery = query(
  {
    ...periodQuery,
    ...pagingQuery,
    detailed: described(
      '`1` to include the usage of each server, `0` to include only the sums for each project. Default: `0`.',
      one(z.string(), 'first'),
    ),
  },
  { extra: rejectedSince275 },
);

interface UsageRequest {
  readonly start?: string;
  readonly end?: string;
  readonly limit?: number;
  readonly marker?: string;
}

/** Since 2.40, usage reports are paged. */
const supportsPaging = since('2.40', true);

const TIME_FORMATS = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?| (\d\d:\d\d:\d\d)\.(\d{1,6}))$/;

/** Converts a time to microseconds since the epoch. Accepts the three formats that usage reports support. */
function parseMicroseconds(text: string): number {
  const [, day, clock, fraction, clockAfterSpace, fractionAfterSpace] = TIME_FORMATS.exec(text) ?? [];
  const timeWithoutFraction = `${day}T${clock ?? clockAfterSpace}`;
  const ms = day === undefined ? Number.NaN : Date.parse(`${timeWithoutFraction}Z`);
  // `Date.parse()` converts a nonexistent day to a day in the next month.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== timeWithoutFraction)
    throw new Rejection('BAD_REQUEST', `Datetime is in invalid format: ${text}`);
  return ms * 1000 + Number((fraction ?? fractionAfterSpace ?? '').padEnd(6, '0'));
}

/**
 * Returns the period of the report. The default start is now, and the default end is one microsecond later. An end in
 * the future is replaced by the current time.
 */
function periodOf({ start, end }: UsageRequest, nowMs: number): UsageWindow {
  const nowUs = nowMs * 1000;
  const startUs = start ? parseMicroseconds(start) : nowUs;
  const endUs = end ? parseMicroseconds(end) : nowUs + 1;
  if (startUs >= endUs)
    throw new Rejection('BAD_REQUEST', 'Invalid start time. The start time cannot occur after the end time.');
  return { startUs, endUs: Math.min(endUs, nowUs) };
}

async function loadReport(call: ComputeCall, requested: UsageRequest, projectId?: string) {
  const isPaged = at(supportsPaging, call.version) === true;
  const size = isPaged ? pageSize(call, requested.limit) : call.maxLimit;
  const usages = await call.engine.usage.report({
    window: periodOf(requested, call.engine.clock.now()),
    projectId,
    limit: size,
    marker: requested.marker,
  });
  const servers = usages.flatMap((usage) => usage.servers.map(({ server }) => server));
  return { usages, links: isPaged ? nextLink(call, size, servers, ({ id }) => id) : undefined };
}

const nextPageField = since(
  '2.40',
  described('Link to the next page. Absent if this page is not full.', collectionLinks.optional()),
);

export const usageOperations = [
  operation({
    ...usageDocs,
    name: 'listUsage',
    method: 'GET',
    path: '/os-simple-tenant-usage',
    summary: 'List the usage of all projects',
    description: 'Lists the usage of all projects in a period.',
    policy: 'os_compute_api:os-simple-tenant-usage:list',
    status: 200,
    errors: [400],
    query: listQuery,
    reply: { tenant_usages: described('Usage by project.', [listedUsage]), tenant_usages_links: nextPageField },
    run: async (call) => {
      const { usages, links } = await loadReport(call, call.query);
      const detailed = call.query.detailed === '1';
      return { tenant_usages: usages.map((usage) => ({ usage, detailed })), tenant_usages_links: links } as never;
    },
  }),
  operation({
    ...usageDocs,
    name: 'showUsage',
    method: 'GET',
    path: '/os-simple-tenant-usage/{id}',
    summary: 'Show the usage of a project',
    description: 'Shows the usage of a project in a period, by server.',
    policy: 'os_compute_api:os-simple-tenant-usage:show',
    status: 200,
    errors: [400],
    query: showQuery,
    target: ({ params }) => ({ projectId: params.id }),
    reply: {
      tenant_usage: described(
        'Usage of a project. An empty object if the project did not use any resources in the period.',
        shownUsage,
      ),
      tenant_usage_links: nextPageField,
    },
    run: async (call) => {
      const { usages, links } = await loadReport(call, call.query, call.target.projectId);
      return { tenant_usage: { usage: usages[0], detailed: true }, tenant_usage_links: links } as never;
    },
  }),
];
