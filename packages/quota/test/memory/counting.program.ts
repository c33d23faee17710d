// Creates a store in each process of a cluster.
import cluster from 'node:cluster';
import { memoryStore } from '../../src/index.js';

if (cluster.isPrimary && process.env.FORK === '1') cluster.fork();
else {
  const perProcess = process.env.PER_PROCESS === '1';
  memoryStore({ perProcess });
  memoryStore({ perProcess });
  cluster.worker?.disconnect();
}
