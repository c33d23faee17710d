import type { DeadLetter } from '@apistrata/compute-engine/events';
import { flag, integer } from '../option-kinds.js';
import { type AdminRequest, columns, type EngineCommand, UsageError } from './admin-command.js';

/** Lists events that webhooks did not accept. */
export const webhookFailures: EngineCommand<{ failures: readonly DeadLetter[] }> = {
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
    columns([
      ['number', 'webhook', 'type', 'server', 'attempts', 'last attempt', 'reason'],
      ...failures.map(({ number, webhook, type, serverId, attempts, failedAt, due, reason }) => [
        number,
        webhook,
        type,
        serverId,
        attempts,
        due ? 'due' : new Date(failedAt).toISOString(),
        reason,
      ]),
    ]),
};

function parseNumbers({ arguments: args, own }: AdminRequest): readonly number[] | undefined {
  if (own.all === true && args.length === 0) return undefined;
  if (own.all === true || args.length === 0)
    throw new UsageError("webhook retry needs numbers that 'webhook failures' lists, or --all");
  const wrong = args.find((word) => !/^\d{1,15}$/.test(word));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is not a number that 'webhook failures' lists`);
  return args.map(Number);
}

/** Retries events that webhooks did not accept. */
export const webhookRetry: EngineCommand<{ due: number }> = {
  on: 'engine',
  usage: '[NUMBER ...]',
  summary: 'retry events that webhooks did not accept, once',
  argumentCount: [0, 100],
  options: { all: flag('retry all of these events') },
  check: (requested) => void parseNumbers(requested),
  run: async ({ events }, requested) => ({ due: await events.deadLetters.retry(parseNumbers(requested)) }),
  text: ({ due }) => `${due} ${due === 1 ? 'event is' : 'events are'} about to be sent again.`,
};
