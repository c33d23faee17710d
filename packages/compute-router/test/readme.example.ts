import { createEngine } from '@apistrata/compute-engine';
import { computeApi, noauth } from '@apistrata/compute-router';
import express from 'express';

const engine = await createEngine({ database: ':memory:' });
const app = express();
app.use(computeApi({ engine, identity: noauth() }));
export const server = app.listen(Number(process.env.PORT ?? 8774), '127.0.0.1');
server.once('close', () => engine.close());
