import { before, since, versioning } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { createRouter, operationsOf } from '@apistrata/microversion-router';
import { z } from 'zod';

const notes = [];
const operation = operationsOf();
const note = object({ text: z.string().min(1), color: since('2026-11-22', z.string().default('green')) });

const operations = [
  operation({
    method: 'GET',
    path: '/notes',
    summary: 'List notes',
    status: 200,
    reply: { texts: z.array(z.string()) },
    run: () => ({ texts: notes }),
  }),
  operation({
    method: 'POST',
    path: '/notes',
    summary: 'Add a note',
    status: [before('2026-11-22', 200), since('2026-11-22', 201)],
    body: note,
    reply: { text: z.string() },
    run({ body: { text } }) {
      notes.push(text);
      return { text };
    },
  }),
];

const { negotiate } = versioning({ versions: ['2025-03-01', '2026-11-22'] });

/** Responds to all requests below `/notes`. */
export const router = createRouter({ operations, call: () => ({}), negotiate });
