import { requestId } from '@apistrata/request-id';
import express from 'express';

export const app = express();
app.use(requestId());
app.use('/traced', requestId({ headers: ['X-Trace'], inbound: ['X-Trace'], generate: () => `trace-${process.pid}` }));
app.use('/silent', requestId({ headers: [], inbound: ['X-Silent'] }));
app.use((req, res) => res.json({ id: req.id }));
