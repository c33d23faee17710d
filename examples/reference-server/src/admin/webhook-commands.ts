import type { DeadLetter } from '@apistrata/compute-engine/events';
import { flag, integer } from '../option-kinds.js';
import { type AdminRequest, type EngineCommand, formatColumns, UsageError } from './admin-command.js';

/** Lists events that webhooks did not accept. */
export const webhookFailuresCommand: EngineCommand<{ failures: readonly DeadLetter[] }> = {
  on: 'engine',
  usage: '',
  summary: 'list up to 100 events that webhooks did not accept, oldest first',
  argumentCount: [0, 0],
  options: {
    after: integer('number of the last event of the previous page', {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      fallback: 0,
    }),
  },
  run: async ({ events }, { own }) => ({ failures: await events.deadLetters.list(own.after) }),
  text: ({ failures }) =>
    formatColumns([
      ['number', 'webhook', 'type', 'server', 'attempts', 'last attempt', 'reason'],
      ...failures.map(({ number, webhook, type, serverId, attempts, failedAt, resendRequested, reason }) => [
        number,
        webhook,
        type,
        serverId,
        attempts,
        resendRequested ? 'due' : new Date(failedAt).toISOString(),
        reason,
      ]),
    ]),
};

function parseEventNumbers({ arguments: args, own }: AdminRequest): readonly number[] | undefined {
  if (own.all === true && args.length === 0) return undefined;
  if (own.all === true || args.length === 0)
    throw new UsageError("webhook retry needs numbers that 'webhook failures' lists, or --all");
  const invalidNumber = args.find((word) => !/^\d{1,15}$/.test(word));
  if (invalidNumber !== undefined)
    throw new UsageError(`'${invalidNumber}' is not a number that 'webhook failures' lists`);
  return args.map(Number);
}

/** Retries events that webhooks did not accept. */
export const webhookRetryCommand: EngineCommand<{ due: number }> = {
  on: 'engine',
  usage: '[NUMBER ...]',
  summary: 'make one more attempt to send events that webhooks did not accept',
  argumentCount: [0, 100],
  options: { all: flag('retry all events that webhooks did not accept') },
  check: (requested) => void parseEventNumbers(requested),
  run: async ({ events }, requested) => ({ due: await events.deadLetters.retry(parseEventNumbers(requested)) }),
  text: ({ due }) => `${due} ${due === 1 ? 'event' : 'events'} will be sent again.`,
};
