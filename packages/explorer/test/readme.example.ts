import { operations } from '@apistrata/compute-router';
import { computeApiReference } from '@apistrata/compute-router/reference';
import { explorer } from '@apistrata/explorer';
import express from 'express';

const docs = explorer({ operations, min: '2.1', max: '2.100', server: '/v2.1', ...computeApiReference });
export const server = express()
  .use('/docs', docs)
  .listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
