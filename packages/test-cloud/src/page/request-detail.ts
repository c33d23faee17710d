import type { InstanceAction } from '@apistrata/compute-engine';
import type { CloudAppOptions } from '../gateway/cloud-app-options.js';
import type { JournalEntry } from '../gateway/journal.js';
import { urlPath } from '../url-path.js';
import { changeOfRequest } from './changes.js';
import { formatCurlCommand } from './curl.js';

/** Returns a server action with its steps, in the format that the page shows. */
function actionView({ requestId, action, userId, startTime, message, events }: InstanceAction) {
  return {
    action,
    requestId,
    userId,
    at: new Date(startTime).toISOString(),
    failed: message === 'Error',
    steps: events.map(({ name, startTime: startedAt, finishTime, result, host, details }) => ({
      name,
      host,
      details,
      result: result ?? 'in progress',
      durationMs: finishTime === null ? null : finishTime - startedAt,
    })),
  };
}

/** Returns the server action that a request started. */
async function findAction({ content }: Pick<CloudAppOptions, 'content'>, entry: JournalEntry, id: string | undefined) {
  if (entry.service !== 'compute' || entry.method === 'GET' || id === undefined) return undefined;
  const actions = await content().engine.instanceActions.list(id);
  const startedAction = actions.find(({ requestId }) => requestId === entry.requestId);
  return startedAction && actionView(startedAction);
}

/** Returns a request's details for the page: the messages, the changes, a curl command, and a draft of a rule. */
export async function requestDetail(
  options: Pick<CloudAppOptions, 'content' | 'journal'>,
  entry: JournalEntry,
  cloudUrl: string,
) {
  const change = changeOfRequest(options.journal, entry);
  return {
    ...entry,
    at: new Date(entry.at).toISOString(),
    change,
    action: await findAction(options, entry, change?.id),
    curl: formatCurlCommand(entry, cloudUrl),
    rule: { match: { method: entry.method, path: urlPath(entry.url) }, status: 503, times: 1 },
  };
}
