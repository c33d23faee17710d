import express from 'express';
import requestID from 'express-request-id';

export const app = express();
app.use(requestID());
app.use('/traced', requestID({ headerName: 'X-Trace', generator: () => `trace-${process.pid}` }));
app.use('/silent', requestID({ headerName: 'X-Silent', setHeader: false }));
app.use((req, res) => res.json({ id: req.id }));
