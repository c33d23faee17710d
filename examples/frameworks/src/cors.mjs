import { corsHeaders as versionHeaders, versioning } from '@apistrata/microversion';
import { enforceQuota, memoryStore, projectQuotas, corsHeaders as quotaHeaders } from '@apistrata/quota';
import { corsHeaders as idHeaders, requestId } from '@apistrata/request-id';
import cors from 'cors';
import express from 'express';

const versions = versioning({
  versions: [
    { version: '2025-03-01', deprecated: '2026-01-31', sunset: '2027-01-31', guide: 'https://shop.example/upgrade' },
    '2026-11-22',
  ],
});
const quota = projectQuotas({ store: memoryStore(), defaults: { notes: 1 } });
const countNotes = enforceQuota({ quota, kind: 'notes', project: () => 'acme', retryAfter: 60 });

const lists = [idHeaders(), versionHeaders(versions), quotaHeaders()];
const exposedHeaders = lists.flatMap((list) => list.exposedHeaders);
const allowedHeaders = ['Content-Type', ...lists.flatMap((list) => list.allowedHeaders)];

const app = express();
app.use(cors({ origin: process.env.PAGES ?? 'https://shop.example', exposedHeaders, allowedHeaders }));
app.use(requestId(), versions);
app.post('/notes', countNotes, (_req, res) => res.status(201).json({}));

export const server = app.listen(Number(process.env.PORT ?? 3000));
