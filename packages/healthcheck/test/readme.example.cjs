const { ping } = require('@apistrata/healthcheck');
const { gracefulServer } = require('@apistrata/healthcheck/server');
const express = require('express');

const database = { query: async () => [1], end: async () => console.log('database closed') };

const app = express();
app.get('/', (_req, res) => res.send('Hello'));

gracefulServer(app.listen(process.env.PORT ?? 3000), {
  health: { backends: [ping(() => database.query(), { name: 'database' })] },
  onShutdown: () => database.end(),
});
