const { headersFor, requestId } = require('@apistrata/request-id');
const express = require('express');

const app = express();
app.use(requestId());

app.get('/', (req, res) => res.json({ id: req.id, sendOn: headersFor(req) }));

module.exports = { app, server: app.listen(process.env.PORT ?? 3000) };
