import { explorer } from '@apistrata/explorer';
import { header, queryParameter, usageReport, versioning } from '@apistrata/microversion';
import { createRouter, problemDocument } from '@apistrata/microversion-router';
import express from 'express';
import type { Accounts } from './accounts.js';
import { changes } from './changes.js';
import { operations, type RequestContext } from './operations.js';
import { versions } from './versions.js';

/** The parts of this API that a test can replace. */
export interface ApiOptions {
  readonly accounts: Accounts;
  readonly now?: () => number;
  /** Whether to check each response against the schema of its version. Default: false. */
  readonly validateReplies?: boolean;
}

/** Creates the Express app, which serves `/docs`, `/usage` and the invoicing API. */
export function createApi({ accounts, now = Date.now, validateReplies = false }: ApiOptions): express.Express {
  const usage = usageReport({ client: (req) => accounts.find(req)?.name });
  const app = express();
  app.use(
    '/docs',
    explorer({
      operations,
      versions: versions.map(({ version }) => version),
      history: Object.fromEntries(changes.changes.map(({ version, summary }) => [version.text, summary])),
      description: {
        title: 'Invoices',
        versionHeaders: [{ name: 'Invoices-Version', value: (version) => version }],
        securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
        fault: problemDocument,
      },
    }),
  );
  app.get('/usage', (_req, res) => void res.json(usage.versions()));
  app.use(
    versioning({
      versions,
      from: [header('Invoices-Version'), queryParameter('version')],
      default: (req) => accounts.find(req)?.pinnedVersion,
      afterSunset: 'reject',
      onVersion: usage.onVersion,
      now,
    }),
  );
  app.use(
    createRouter<RequestContext>({
      operations,
      migrations: changes,
      call: (req) => ({ account: accounts.authenticate(req) }),
      validateReplies,
      onError: (error) => console.error(error),
    }),
  );
  return app;
}
