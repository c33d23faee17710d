import { healthcheck } from '@apistrata/healthcheck';
import { versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas } from '@apistrata/quota';
import { requestId } from '@apistrata/request-id';
import express, { type ErrorRequestHandler, type Request } from 'express';

interface Note {
  readonly id: string;
  readonly text: string;
}

class Notes {
  readonly #notes = new Map<string, Note>();

  async list(): Promise<readonly Note[]> {
    return [...this.#notes.values()];
  }

  async add(text: string): Promise<Note> {
    const note = { id: String(this.#notes.size + 1), text };
    this.#notes.set(note.id, note);
    return note;
  }

  async remove(id: string): Promise<boolean> {
    return this.#notes.delete(id);
  }
}

export const log: readonly string[] = [];

export async function start() {
  const app = express();
  const notes = new Notes();
  app.use(express.json());
  // + apistrata
  const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 2 } });
  const counted = enforceQuota({ quota, kind: 'notes', project: () => 'everyone' });
  app.use(requestId(), healthcheck(), versioning({ versions: ['2026-01-01', '2026-11-01'] }));
  app.post('/notes', counted).delete('/notes/:id', counted);
  // - apistrata
  app.get('/notes', async (_req, res) => void res.json(await notes.list()));
  app.post('/notes', async (req: Request<object, unknown, Partial<Note>>, res) => {
    if (req.body.text) res.status(201).json(await notes.add(req.body.text));
    else res.status(400).json({ error: 'text is missing' });
  });
  app.delete('/notes/:id', async (req, res) => {
    res.status((await notes.remove(req.params.id)) ? 204 : 404).end();
  });
  app.get('/broken', async () => {
    throw new Error('broken');
  });
  const failed: ErrorRequestHandler = (error, _req, res, _next) => void res.status(500).json({ error: error.message });
  app.use(failed);
  return app;
}
